"""A model that is already an ONNX file: its inputs, its size, its static copy and its reference outputs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, JobError, Unsupported
from modeldyno.models import _library

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_DEFAULT_LENGTH = 128
_DEFAULT_SIDE = 224  # of an image, the last two of four dimensions
_BATCH = ""
"""Stands for the batch among the named sizes."""
_EMBEDDED_LIMIT = 1_500_000_000  # protobuf ends at 2 GB


@dataclass(frozen=True)
class GraphInput:
    """An input of the graph; a size is a number, or the name of an axis that is free."""

    name: str
    dtype: str
    sizes: tuple[int | str, ...]


@dataclass(frozen=True)
class Graph:
    inputs: tuple[GraphInput, ...]
    parameters: int

    @property
    def is_static(self) -> bool:
        return not any(isinstance(size, str) for item in self.inputs for size in item.sizes)


def read_graph(path: Path) -> Graph:
    stat = path.stat()
    return _read_graph(path, stat.st_mtime_ns, stat.st_size)


@cache
def _read_graph(path: Path, modified: int, size: int) -> Graph:  # noqa: ARG001 the two only tell versions apart
    import math

    from onnx import helper

    graph = _load(path, external=False).graph
    weights = {tensor.name: tensor for tensor in graph.initializer}
    inputs = tuple(
        GraphInput(item.name, str(helper.tensor_dtype_to_np_dtype(item.type.tensor_type.elem_type)), _sizes(item))
        for item in graph.input
        if item.name not in weights
    )
    return Graph(inputs, sum(math.prod(tensor.dims) for tensor in weights.values()))


def _load(path: Path, external: bool) -> Any:
    try:
        with _library.quiet():
            import onnx
    except ImportError as error:
        raise Unsupported("onnx is not installed", "pip install 'modeldyno[onnxruntime]'") from error
    try:
        model = onnx.load(path, load_external_data=external)
    except Exception as error:
        raise InputError(f"{path} is not a readable ONNX file: {_library.first_line(error)}") from error
    if not model.graph.node:
        raise InputError(f"{path} holds no ONNX graph; give a file made by an exporter.")
    return model


def _sizes(item: Any) -> tuple[int | str, ...]:
    dims = item.type.tensor_type.shape.dim
    return tuple(
        dim.dim_value if dim.HasField("dim_value") else (_BATCH if index == 0 else _axis(item.name, index, dim))
        for index, dim in enumerate(dims)
    )


def _axis(name: str, index: int, dim: Any) -> str:
    return str(dim.dim_param) or f"{name}_{index}"


def free_axes(path: Path) -> dict[str, int]:
    """The free sizes of a graph beyond the batch, with defaults."""
    axes: dict[str, int] = {}
    for item in read_graph(path).inputs:
        for index, size in enumerate(item.sizes):
            if isinstance(size, str) and size != _BATCH:
                is_image_side = len(item.sizes) == 4 and index >= 2
                axes.setdefault(size, _DEFAULT_SIDE if is_image_side else _DEFAULT_LENGTH)
    return axes


def parameter_count(path: Path | None) -> int | None:
    return read_graph(path).parameters if path else None


def file_inputs(path: Path, batch: int, shape: Mapping[str, int], seed: int) -> Arrays:
    import numpy as np

    graph = read_graph(path)
    _check_batch(path, graph, batch)
    rng = np.random.default_rng(seed)
    sizes = {**shape, _BATCH: batch}
    return {item.name: _values(item, _concrete(item, sizes), rng) for item in graph.inputs}


def _check_batch(path: Path, graph: Graph, batch: int) -> None:
    leading = [item.sizes[0] for item in graph.inputs if item.sizes]
    if leading and _BATCH not in leading and leading[0] != batch:
        raise Unsupported(
            f"the graph {path.name} is made for batch size {leading[0]} only", f"ask for batch {leading[0]}"
        )


def _concrete(item: GraphInput, sizes: Mapping[str, int]) -> tuple[int, ...]:
    return tuple(sizes[size] if isinstance(size, str) else size for size in item.sizes)


def _values(item: GraphInput, size: tuple[int, ...], rng: Any) -> Any:
    import numpy as np

    dtype = np.dtype(item.dtype)
    if dtype.kind == "f":
        return rng.standard_normal(size, dtype=np.float32).astype(dtype)
    if dtype.kind not in "iub":
        raise Unsupported(f"the input '{item.name}' has the type {item.dtype}", "give a graph with numeric inputs")
    # The vocabulary is unknown: 0 and 1 are valid ids everywhere, and a mask of ones hides nothing.
    return np.ones(size, dtype) if "mask" in item.name else rng.integers(0, 2, size).astype(dtype)


def write_static(path: Path, arrays: Arrays, target: Path) -> None:
    """A copy of the graph with the free sizes of its inputs fixed."""
    import onnx

    model = _load(path, external=True)
    for item in model.graph.input:
        if item.name in arrays:
            for dim, size in zip(item.type.tensor_type.shape.dim, arrays[item.name].shape, strict=True):
                dim.dim_value = size
    del model.graph.value_info[:]  # inferred for the free sizes, no longer true
    onnx.save_model(model, target, save_as_external_data=model.ByteSize() > _EMBEDDED_LIMIT)


def run_file(path: Path, arrays: Arrays) -> Arrays:
    """The floating-point outputs of ONNX Runtime on the CPU."""
    try:
        with _library.quiet():
            import onnxruntime
    except ImportError as error:
        raise Unsupported("onnxruntime is not installed", "pip install 'modeldyno[onnxruntime]'") from error
    options = onnxruntime.SessionOptions()
    options.log_severity_level = 4
    try:
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        results = session.run(None, dict(arrays))
    except Exception as error:
        raise JobError(f"ONNX Runtime cannot run {path}: {_library.first_line(error)}") from error
    names = [output.name for output in session.get_outputs()]
    pairs = zip(names, results, strict=True)
    return {name: value for name, value in pairs if value.dtype.kind == "f"}
