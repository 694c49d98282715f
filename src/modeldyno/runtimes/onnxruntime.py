"""ONNX Runtime on the graph that the model was exported to."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import Counter
from functools import cached_property
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.cache import cache_dir
from modeldyno.core.cores import available_cores
from modeldyno.core.errors import Unsupported
from modeldyno.core.identity import digest
from modeldyno.core.protocols import RunsOnnxruntime, Session, Source
from modeldyno.core.types import Case, Placement, Precision, ProfileRow
from modeldyno.runtimes._profile import top_rows

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

PROFILED_STEPS = 3


class LoadedGraph:
    """An inference session with its inputs."""

    def __init__(self, path: Path, provider: tuple[str, dict[str, str]], case: Case, arrays: Arrays) -> None:
        begin = time.perf_counter()
        self._path, self._provider, self._case = path, provider, case
        self._session = _open(path, provider, case)
        self.load_ms = (time.perf_counter() - begin) * 1e3
        self._names = [output.name for output in self._session.get_outputs()]
        self._feed = {entry.name: arrays[entry.name] for entry in self._session.get_inputs()}
        self._bound = self._binding() if case.options.get("io_binding") else None

    def step(self) -> Any:
        if self._bound is not None:
            return self._session.run_with_iobinding(self._bound)
        return self._session.run(None, self._feed)

    def outputs(self) -> Arrays:
        import numpy as np

        if self._bound is None:
            values = self._session.run(None, self._feed)
        else:
            self.step()
            values = self._bound.copy_outputs_to_cpu()
        return {name: np.asarray(value, dtype=np.float32) for name, value in zip(self._names, values, strict=True)}

    def placement(self) -> Placement:
        wanted = self._provider[0]
        nodes = Counter(event["args"]["provider"] for event in self._events if "provider" in event["args"])
        elsewhere = {
            event["args"]["op_name"] for event in self._events if event["args"].get("provider", wanted) != wanted
        }
        return Placement(
            asked=wanted,
            device=nodes.most_common(1)[0][0] if nodes else self._session.get_providers()[0],
            compute_precision=_compute_precision(self._events),
            nodes={name: count // PROFILED_STEPS for name, count in nodes.items()},
            fallback=tuple(sorted(elsewhere)),
            threads=self._session.get_session_options().intra_op_num_threads or None,
        )

    def profile(self) -> tuple[ProfileRow, ...]:
        rows = ((e["args"]["op_name"], "operator", 1, e["dur"] / 1e3) for e in self._events)
        return top_rows(rows, PROFILED_STEPS)

    @cached_property
    def _events(self) -> list[dict[str, Any]]:
        """Kernel events of a second session that profiles itself: the timed one must not pay for it."""
        with tempfile.TemporaryDirectory() as folder:
            session = _open(self._path, self._provider, self._case, profile=Path(folder) / "ort")
            for _ in range(PROFILED_STEPS):
                session.run(None, self._feed)
            events = json.loads(Path(session.end_profiling()).read_text())
        return [e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]

    def _binding(self) -> Any:
        binding = self._session.io_binding()
        for name, array in self._feed.items():
            binding.bind_cpu_input(name, array)
        for name in self._names:
            binding.bind_output(name)
        return binding


class OnnxruntimeRuntime:
    name = "onnxruntime"
    options = frozenset({"threads", "io_binding"})
    preloads = ("onnxruntime",)

    def packages(self) -> tuple[str, ...]:
        return ("onnxruntime", "onnxruntime-gpu", "onnx", "torch", "transformers")

    def check(self, session: Session, precision: str) -> None:
        import onnxruntime

        provider, _ = _provider(session)
        available = onnxruntime.get_available_providers()
        if provider not in available:
            raise Unsupported(
                f"the installed onnxruntime has no {provider} (it has {', '.join(available)})",
                f"install the onnxruntime build for {session.device.platform}",
            )
        _check_precision(precision)

    def prepare(self, source: Source, precision: str) -> None:
        _check_precision(precision)
        _in_precision(source.onnx_path(), precision)

    def load(self, source: Source, session: Session, case: Case) -> LoadedGraph:
        path = _in_precision(source.onnx_path(), case.precision)
        return LoadedGraph(path, _provider(session), case, source.inputs())


def _check_precision(precision: str) -> None:
    if precision == Precision.BF16:
        raise Unsupported(
            "ONNX Runtime has no bf16 kernels for most operators (NOT_IMPLEMENTED for Add)", "use --precision fp16"
        )


def _provider(session: Session) -> tuple[str, dict[str, str]]:
    if not isinstance(session, RunsOnnxruntime):
        raise Unsupported(
            f"ONNX Runtime cannot address a device of platform {session.device.platform}",
            f"choose another --runtime for {session.device.platform}",
        )
    return session.ort_provider()


def _open(path: Path, provider: tuple[str, dict[str, str]], case: Case, profile: Path | None = None) -> Any:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.log_severity_level = 3
    options.intra_op_num_threads = int(case.options.get("threads", 0)) or available_cores()
    if profile:
        options.enable_profiling = True
        options.profile_file_prefix = str(profile)
    return onnxruntime.InferenceSession(path, options, providers=[provider])


def _in_precision(path: Path, precision: str) -> Path:
    """The graph converted to this precision, kept in the cache for this state of the file and this ONNX Runtime."""
    if precision == Precision.FP32:
        return path
    state = path.stat()
    key = digest([str(path.resolve()), state.st_size, state.st_mtime_ns, precision, version("onnxruntime")])
    target = cache_dir("converted") / f"{key}.onnx"
    if not target.exists():
        partial = target.with_suffix(f".{os.getpid()}.partial")
        write = _write_fp16 if precision == Precision.FP16 else _write_int8
        write(path, partial)
        partial.replace(target)
    return target


def _write_fp16(path: Path, target: Path) -> None:
    import onnx
    from onnxruntime.transformers.float16 import convert_float_to_float16

    model = convert_float_to_float16(onnx.load(path), keep_io_types=True, disable_shape_infer=True)
    onnx.save_model(model, target)


def _write_int8(path: Path, target: Path) -> None:
    """Dynamic quantization; the pre-processing pass fuses first and makes the result twice as fast."""
    import onnx
    from onnxruntime.quantization import quantize_dynamic
    from onnxruntime.quantization.shape_inference import quant_pre_process

    with tempfile.TemporaryDirectory(dir=target.parent) as folder:
        # In one file: the pre-processing loses weights that are stored beside the graph.
        whole, fused = Path(folder) / "whole.onnx", Path(folder) / "fused.onnx"
        onnx.save_model(onnx.load(path), whole)
        quant_pre_process(str(whole), str(fused), skip_symbolic_shape=True)
        model = onnx.load(fused)
        del model.graph.value_info[:]  # shapes from before the fusion contradict the fused graph
        quantize_dynamic(model, str(target))


def _compute_precision(events: list[dict[str, Any]]) -> str:
    """Read off the kernels that ran: the CPU provider, for one, casts most fp16 operators to float32."""
    kinds: Counter[str] = Counter()
    for event in events:
        name, inputs = event["args"]["op_name"], event["args"].get("input_type_shape") or [{}]
        if name in _INTEGER_PRODUCTS:
            kinds["int8"] += 1
        elif name in _PRODUCTS:
            kinds.update([next(iter(inputs[0]), "?")])
    most = kinds.most_common(1)[0][0] if kinds else "no matrix arithmetic"
    return {"float": "float32"}.get(most, most)


_INTEGER_PRODUCTS = {
    "MatMulInteger",
    "DynamicQuantizeMatMul",
    "QGemm",
    "MatMulIntegerToFloat",
    "ConvInteger",
    "QLinearConv",
}
_PRODUCTS = {"MatMul", "Gemm", "FusedMatMul", "FusedGemm", "Conv", "FusedConv", "Attention", "MultiHeadAttention"}
"""Operators whose precision decides what a model was computed in."""

MEMBER = OnnxruntimeRuntime()
