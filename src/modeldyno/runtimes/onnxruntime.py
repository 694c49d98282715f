"""ONNX Runtime on the graph that the model was exported to."""

from __future__ import annotations

import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.cores import available_cores
from modeldyno.core.decoding import DecodingSource
from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import RunsOnnxruntime, Session, Source
from modeldyno.core.types import Case, Placement, Precision, ProfileRow
from modeldyno.runtimes._graph_decoder import GraphDecoder
from modeldyno.runtimes._onnx_precision import in_precision
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

    def steps_at_once(self) -> int:
        """A session may run in several threads, but a binding has one set of outputs and a device one stream of ours.
        More than there are cores for would only cost memory."""
        if self._bound is not None or self._provider[1]:
            return 1
        threads = int(self._session.get_session_options().intra_op_num_threads)
        return max(1, available_cores() // threads)

    def placement(self) -> Placement:
        return _placement(self._session, self._provider[0], self._events)

    def profile(self) -> tuple[ProfileRow, ...]:
        rows = ((e["args"]["op_name"], "operator", 1, e["dur"] / 1e3) for e in self._events)
        return top_rows(rows, PROFILED_STEPS)

    @cached_property
    def _events(self) -> list[dict[str, Any]]:
        return _profiled(self._path, self._provider, self._case, lambda session: session.run(None, self._feed))

    def _binding(self) -> Any:
        binding = self._session.io_binding()
        for name, array in self._feed.items():
            binding.bind_cpu_input(name, array)
        for name in self._names:
            binding.bind_output(name)
        return binding


class DecodingGraph:
    """A session whose inputs and outputs stay where it computes."""

    def __init__(self, path: Path, provider: tuple[str, dict[str, str]], case: Case) -> None:
        self._path, self._provider, self._case = path, provider, case
        self._session = _open(path, provider, case)
        self.inputs = tuple(entry.name for entry in self._session.get_inputs())
        memories = zip(self._session.get_outputs(), self._session.get_output_memory_infos(), strict=True)
        self._outputs = {output.name: (memory.name.lower(), memory.device_id) for output, memory in memories}

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        return self._run(self._session, given)

    def value(self, array: Any) -> Any:
        import onnxruntime

        return onnxruntime.OrtValue.ortvalue_from_numpy(array)

    def array(self, value: Any) -> Any:
        return value.numpy()

    def size(self, value: Any) -> int:
        return int(value.tensor_size_in_bytes())

    def placement(self, given: Mapping[str, Any]) -> Placement:
        events = _profiled(self._path, self._provider, self._case, lambda session: self._run(session, given))
        return _placement(self._session, self._provider[0], events)

    def _run(self, session: Any, given: Mapping[str, Any]) -> dict[str, Any]:
        """With a binding of its own each time: the outputs of one run are the inputs of the next."""
        binding = session.io_binding()
        for name, value in given.items():
            binding.bind_ortvalue_input(name, value)
        for name, memory in self._outputs.items():
            binding.bind_output(name, *memory)
        session.run_with_iobinding(binding)
        return dict(zip(self._outputs, binding.get_outputs(), strict=True))


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
        in_precision(source.onnx_path(), precision)

    def load(self, source: Source, session: Session, case: Case) -> LoadedGraph:
        path = in_precision(source.onnx_path(), case.precision)
        return LoadedGraph(path, _provider(session), case, source.inputs())

    def prepare_decoder(self, source: DecodingSource, precision: str) -> None:
        _check_precision(precision)
        graphs = source.graphs()
        for path in (graphs.prefill, graphs.decode):
            in_precision(path, precision)

    def load_decoder(self, source: DecodingSource, session: Session, case: Case) -> GraphDecoder:
        graphs, provider = source.graphs(), _provider(session)
        paths = [in_precision(path, case.precision) for path in (graphs.prefill, graphs.decode)]
        begin = time.perf_counter()
        prefill, decode = (DecodingGraph(path, provider, case) for path in paths)
        return GraphDecoder(prefill, decode, source.prompt(), (time.perf_counter() - begin) * 1e3)


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


def _profiled(
    path: Path, provider: tuple[str, dict[str, str]], case: Case, step: Callable[[Any], Any]
) -> list[dict[str, Any]]:
    """Kernel events of a second session that profiles itself: the timed one must not pay for it."""
    with tempfile.TemporaryDirectory() as folder:
        session = _open(path, provider, case, profile=Path(folder) / "ort")
        for _ in range(PROFILED_STEPS):
            step(session)
        events = json.loads(Path(session.end_profiling()).read_text())
    return [e for e in events if e.get("cat") == "Node" and e["name"].endswith("_kernel_time")]


def _placement(session: Any, wanted: str, events: list[dict[str, Any]]) -> Placement:
    nodes = Counter(event["args"]["provider"] for event in events if "provider" in event["args"])
    elsewhere = {event["args"]["op_name"] for event in events if event["args"].get("provider", wanted) != wanted}
    return Placement(
        asked=wanted,
        device=nodes.most_common(1)[0][0] if nodes else session.get_providers()[0],
        compute_precision=_compute_precision(events),
        nodes={name: count // PROFILED_STEPS for name, count in nodes.items()},
        fallback=tuple(sorted(elsewhere)),
        threads=session.get_session_options().intra_op_num_threads or None,
    )


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
