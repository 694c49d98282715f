"""OpenVINO on the graph that the model was exported to, with the precision always set and checked."""

from __future__ import annotations

import itertools
import time
from collections import Counter
from collections.abc import Container, Mapping
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.decoding import DecodingSource
from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import RunsOpenvino, Session, Source
from modeldyno.core.types import Case, Placement, Precision, ProfileRow
from modeldyno.runtimes._graph_decoder import GraphDecoder, Names
from modeldyno.runtimes._profile import top_rows

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

PROFILED_STEPS = 3
_HINTS: dict[str, str] = {Precision.FP32: "f32", Precision.BF16: "bf16", Precision.FP16: "f16"}
_ARITHMETIC = ("FullyConnected", "MatMul", "Convolution", "GroupConvolution", "ScaledDotProductAttention")
"""Node types whose precision decides what a model was computed in."""


class LoadedGraph:
    """A compiled model with one infer request and its inputs."""

    def __init__(self, source: Source, device: str, case: Case) -> None:
        self._path, self._device, self._case = source.onnx_path(), device, case
        begin = time.perf_counter()
        self._compiled = _compile(self._path, device, case)
        self.load_ms = (time.perf_counter() - begin) * 1e3
        arrays = source.inputs()
        self._names = [_name_among(output, source.reference().values) for output in self._compiled.outputs]
        self._feed = {name: arrays[name] for name in (_name_among(i, arrays) for i in self._compiled.inputs)}
        self._request = self._compiled.create_infer_request()

    def step(self) -> Any:
        return self._request.infer(self._feed, share_inputs=True, share_outputs=True)

    def outputs(self) -> Arrays:
        import numpy as np

        values = self._request.infer(self._feed).to_tuple()
        return {name: np.asarray(value, dtype=np.float32) for name, value in zip(self._names, values, strict=True)}

    def placement(self) -> Placement:
        return _placement(self._compiled, self._device)

    def profile(self) -> tuple[ProfileRow, ...]:
        """Layer by layer; OpenVINO names the kernel it chose, such as brgemm_avx512_f32."""
        rows = (
            (layer.node_name, f"{layer.node_type} {layer.exec_type}", 1, layer.real_time.total_seconds() * 1e3)
            for layer in self._layers
        )
        return top_rows(rows, PROFILED_STEPS)

    @cached_property
    def _layers(self) -> list[Any]:
        """Of a second compilation that counts: the timed one must not pay for it."""
        request = _compile(self._path, self._device, self._case, count=True).create_infer_request()
        layers: list[Any] = []
        for _ in range(PROFILED_STEPS):
            request.infer(self._feed)
            layers += request.get_profiling_info()
        return layers


class DecodingGraph:
    """A compiled model with two requests that take turns: what one gave the other takes, where it lies."""

    def __init__(self, path: Path, device: str, case: Case, known: Container[str]) -> None:
        self._device = device
        self._compiled = _compile(path, device, case)
        self._taken = {_name_among(port, known): port for port in self._compiled.inputs}
        self._given = {_name_among(port, known): port for port in self._compiled.outputs}
        self.inputs = tuple(self._taken)
        self._requests = itertools.cycle([self._compiled.create_infer_request() for _ in range(2)])

    def run(self, given: Mapping[str, Any]) -> dict[str, Any]:
        request = next(self._requests)
        for name, tensor in given.items():
            request.set_tensor(self._taken[name], tensor)
        request.infer()
        return {name: request.get_tensor(port) for name, port in self._given.items()}

    def value(self, array: Any) -> Any:
        import openvino

        return openvino.Tensor(array)

    def array(self, value: Any) -> Any:
        return value.data

    def size(self, value: Any) -> int:
        return int(value.byte_size)

    def placement(self, given: Mapping[str, Any]) -> Placement:
        self.run(given)
        return _placement(self._compiled, self._device)


class OpenvinoRuntime:
    name = "openvino"
    options = frozenset({"threads", "hint"})
    preloads = ("openvino",)

    def packages(self) -> tuple[str, ...]:
        return ("openvino", "onnx", "torch", "transformers")

    def check(self, session: Session, precision: str) -> None:
        _address(session)
        _check_precision(precision)

    def prepare(self, source: Source, precision: str) -> None:
        _check_precision(precision)
        source.onnx_path()

    def load(self, source: Source, session: Session, case: Case) -> LoadedGraph:
        return LoadedGraph(source, _address(session), case)

    def prepare_decoder(self, source: DecodingSource, precision: str) -> None:
        _check_precision(precision)
        source.graphs()

    def load_decoder(self, source: DecodingSource, session: Session, case: Case) -> GraphDecoder:
        graphs, device, prompt = source.graphs(), _address(session), source.prompt()
        begin = time.perf_counter()
        prefill, decode = (DecodingGraph(path, device, case, Names(prompt)) for path in (graphs.prefill, graphs.decode))
        return GraphDecoder(prefill, decode, prompt, (time.perf_counter() - begin) * 1e3)


def _check_precision(precision: str) -> None:
    if precision not in _HINTS:
        raise Unsupported(
            "OpenVINO computes in int8 only with a model that was quantized before", "use --precision bf16 or fp16"
        )


def _address(session: Session) -> str:
    if not isinstance(session, RunsOpenvino):
        raise Unsupported(
            f"OpenVINO cannot address a device of platform {session.device.platform}",
            "use --on openvino for the openvino runtime",
        )
    return session.openvino_device()


def _compile(path: Path, device: str, case: Case, count: bool = False) -> Any:
    import openvino

    settings: dict[str, Any] = {
        # Without the hint OpenVINO picks bf16 by itself on CPUs that have it.
        "INFERENCE_PRECISION_HINT": _HINTS[case.precision],
        "PERFORMANCE_HINT": str(case.options.get("hint", "latency")).upper(),
        "PERF_COUNT": count,
    }
    if threads := case.options.get("threads"):
        settings["INFERENCE_NUM_THREADS"] = int(threads)
    core = openvino.Core()
    return core.compile_model(core.read_model(path), device, settings)


def _placement(compiled: Any, device: str) -> Placement:
    """Read off the executed graph: its nodes carry the precision they really run in."""
    nodes = list(compiled.get_runtime_model().get_ops())
    arithmetic = Counter(_info(node, "runtimePrecision") for node in nodes if _info(node, "layerType") in _ARITHMETIC)
    devices = compiled.get_property("EXECUTION_DEVICES")
    return Placement(
        asked=device,
        device=",".join(devices),
        compute_precision=arithmetic.most_common(1)[0][0] if arithmetic else "no matrix arithmetic",
        nodes=dict(Counter(_info(node, "runtimePrecision") for node in nodes)),
        fallback=tuple(sorted(set(devices) - {device})),
        threads=int(compiled.get_property("INFERENCE_NUM_THREADS")),
        details={"hint": str(compiled.get_property("INFERENCE_PRECISION_HINT").to_string())},
    )


def _name_among(port: Any, known: Container[str]) -> str:
    """A port may have picked up names of inner nodes beside its own."""
    return next((str(name) for name in port.get_names() if name in known), str(port.get_any_name()))


def _info(node: Any, name: str) -> str:
    info = node.get_rt_info()
    return str(info[name].astype(str)) if name in info else "?"


MEMBER = OpenvinoRuntime()
