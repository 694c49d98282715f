"""From a PyTorch step to ONNX graphs with static shapes and the step's own names, one export for all batch sizes."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported, is_out_of_memory
from modeldyno.models import _library
from modeldyno.models._architecture import ExportHints

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_LEGACY_OPSET = 17


def export(step: Any, arrays: Arrays, outputs: Sequence[str], hints: ExportHints, path: Path) -> None:
    """Write `step` to `path` for the sizes of these arrays. Raises Unsupported with the exporter's reason."""
    if hints.legacy:
        _export(step, arrays, outputs, hints, path, {"dynamo": False, "opset_version": _LEGACY_OPSET})
    else:
        _export(step, arrays, outputs, hints, path, {"dynamo": True, "verbose": False})


def export_any_batch(step: Any, arrays: Arrays, outputs: Sequence[str], path: Path) -> None:
    """Write `step` with a free batch axis; the arrays need a batch of two, for the exporter takes one as a constant."""
    torch = _library.load_torch()
    free = {"tensors": tuple({0: torch.export.Dim.AUTO} for _ in arrays)}
    _export(step, arrays, outputs, ExportHints(), path, {"dynamo": True, "verbose": False, "dynamic_shapes": free})
    if not _has_free_batch(path):
        raise Unsupported("the exporter fixed the batch size")


def _has_free_batch(path: Path) -> bool:
    import onnx

    graph = onnx.load(path, load_external_data=False).graph
    return all(item.type.tensor_type.shape.dim[0].dim_param for item in graph.input)


def fix_sizes(path: Path, arrays: Arrays, target: Path) -> None:
    """A copy of the graph for the sizes of these arrays, beside the original so that both share the weights."""
    import onnx

    model = onnx.load(path, load_external_data=False)
    for item in model.graph.input:
        for dim, size in zip(item.type.tensor_type.shape.dim, arrays[item.name].shape, strict=True):
            dim.dim_value = size
    del model.graph.value_info[:]  # inferred for the free sizes, no longer true
    onnx.save_model(model, target)


def _export(
    step: Any, arrays: Arrays, outputs: Sequence[str], hints: ExportHints, path: Path, options: dict[str, Any]
) -> None:
    torch = _library.load_torch()
    names = [name for name in arrays if name not in hints.constants]
    tensors = tuple(torch.from_numpy(arrays[name]) for name in names)
    module = positional(step, names, constants(arrays, hints))
    with exporting():
        torch.onnx.export(module, tensors, path, input_names=names, output_names=list(outputs), **options)


@contextlib.contextmanager
def exporting() -> Iterator[None]:
    """Quiet, without gradients and checks; what goes wrong inside is Unsupported with the exporter's reason."""
    torch = _library.load_torch()
    try:
        with _library.quiet(), _without_checks(), torch.no_grad():
            yield
    except Unsupported:
        raise
    except Exception as error:
        if is_out_of_memory(error):
            raise
        cause = error.__cause__ or error
        raise Unsupported(
            f"torch.onnx could not export this model: {_library.first_line(cause)}", "use the torch runtime"
        ) from error


def constants(arrays: Arrays, hints: ExportHints) -> dict[str, Any]:
    # The newer exporter takes plain numbers for constants; a tensor's values would be unknown to it.
    torch = _library.load_torch()
    kept = {name: arrays[name] for name in arrays if name in hints.constants}
    return {name: torch.from_numpy(array) if hints.legacy else array.tolist() for name, array in kept.items()}


def positional(step: Any, names: list[str], constants: dict[str, Any]) -> Any:
    from torch import nn

    class Positional(nn.Module):  # type: ignore[misc]
        """Exporters name inputs and outputs by position."""

        def __init__(self) -> None:
            super().__init__()
            self.step = step

        def forward(self, *tensors: Any) -> tuple[Any, ...]:
            named = dict(zip(names, tensors, strict=True))
            return tuple(self.step(**named, **constants).values())

    return Positional().eval()


@contextlib.contextmanager
def _without_checks() -> Iterator[None]:
    """Take transformers' run-time checks of token counts out: they have no counterpart in ONNX."""
    attribute = "torch_compilable_check"
    modules = [m for name, m in list(sys.modules.items()) if name.startswith("transformers.models.")]
    patched = [(module, vars(module)[attribute]) for module in modules if attribute in vars(module)]
    for module, _ in patched:
        setattr(module, attribute, lambda *args, **kwargs: None)  # noqa: ARG005
    try:
        yield
    finally:
        for module, original in patched:
            setattr(module, attribute, original)
