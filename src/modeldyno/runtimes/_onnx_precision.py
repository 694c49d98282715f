"""ONNX graphs in other precisions than they were exported in, made once and kept."""

from __future__ import annotations

import os
import tempfile
from importlib.metadata import version
from pathlib import Path

from modeldyno.core.cache import cache_dir
from modeldyno.core.identity import digest
from modeldyno.core.types import Precision
from modeldyno.runtimes._graph_decoder import is_kept

_FORM = 2
"""Counted up when the same graph is converted in another way, so that none of before is taken."""


def in_precision(path: Path, precision: str) -> Path:
    """The graph converted to this precision, kept in the cache for this state of the file and this ONNX Runtime."""
    if precision == Precision.FP32:
        return path
    state = path.stat()
    key = digest([str(path.resolve()), state.st_size, state.st_mtime_ns, precision, version("onnxruntime"), _FORM])
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

    model = onnx.load(path)
    names = [entry.name for entry in (*model.graph.input, *model.graph.output)]
    told = [name for name in names if not is_kept(name)]  # to and by the host; the others only go from step to step
    onnx.save_model(convert_float_to_float16(model, keep_io_types=told, disable_shape_infer=True), target)


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
