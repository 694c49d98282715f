"""Parameters and operations of a model, counted on the meta device: no weights, no time, any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import DynoError, JobError
from modeldyno.models import _library
from modeldyno.models._architecture import Adapts, CountsByParts, hints_of
from modeldyno.models._inputs import full_shape, model_inputs
from modeldyno.models._resolve import ModelSpec, SourceKind
from modeldyno.models._step import as_step

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

# A mask of ones changes no count, but masks are looked at by value.
_VALUE_DEPENDENT = frozenset({"attention_mask", "pixel_mask", "context_attention_mask"})


@dataclass(frozen=True)
class Counts:
    """The size of a model and of one step of it."""

    parameters: int | None
    gflop: float | None
    """Billions of operations of one step, a multiplication and an addition counting as two."""
    gflop_reason: str | None = None
    """Why there is no count of operations."""


def count(spec: ModelSpec, batch: int = 1, shape: Mapping[str, int] | None = None) -> Counts:
    """Count a model at one batch size and shape."""
    if spec.kind is SourceKind.ONNX:
        from modeldyno.models._onnx_file import parameter_count

        return Counts(parameter_count(spec.path), None, "the operations of an ONNX file are not counted")
    return count_with(spec, model_inputs(spec, batch, full_shape(spec, shape)))


def count_with(spec: ModelSpec, arrays: Arrays) -> Counts:
    model = _meta_model(spec)
    parameters = sum(parameter.numel() for parameter in model.parameters())
    try:
        with _library.quiet():
            return Counts(parameters, _operations(spec, model, arrays) / 1e9)
    except Exception as error:  # noqa: BLE001 any model may do what tracing cannot follow; the count is optional
        return Counts(parameters, None, f"the step cannot be traced: {_library.first_line(error)}")


def _meta_model(spec: ModelSpec) -> Any:
    torch = _library.load_torch()
    assert spec.member is not None
    cls = _library.model_class(spec.config, spec.member)
    # Fused attention kernels are not counted; eager attention is plain matrix products.
    options = {} if _library.is_diffusers(spec.config) else {"attn_implementation": "eager"}
    try:
        with torch.device("meta"):
            return _library.construct(cls, spec.config, **options).eval()
    except (DynoError, MemoryError):
        raise
    except Exception as error:
        raise JobError(f"'{spec.name}' could not be built: {_library.first_line(error)}") from error


def _operations(spec: ModelSpec, model: Any, arrays: Arrays) -> int:
    torch = _library.load_torch()
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    calls = _calls(spec, model, _meta_inputs(spec, arrays))
    with torch.inference_mode(), counter:
        for call in calls:
            call()
    return int(counter.get_total_flops())


def _calls(spec: ModelSpec, model: Any, inputs: dict[str, Any]) -> Sequence[Callable[[], Any]]:
    member = spec.member
    parts = member.parts(model, inputs) if isinstance(member, CountsByParts) else None
    if parts is not None:
        return parts
    step = as_step(model, member)
    if isinstance(member, Adapts):  # its own signature; masks cannot be left out
        inputs = {**dict.fromkeys(_VALUE_DEPENDENT & _parameters(step.inner)), **inputs}
    return (lambda: step(**inputs),)


def _parameters(module: Any) -> frozenset[str]:
    import inspect

    return frozenset(inspect.signature(module.forward).parameters)


def _meta_inputs(spec: ModelSpec, arrays: Arrays) -> dict[str, Any]:
    """Shapes without values, but for what decides the structure of the computation."""
    torch = _library.load_torch()
    assert spec.member is not None
    real = hints_of(spec.member, spec.model_type or "").constants
    kept = {name: torch.from_numpy(array) for name, array in arrays.items() if name not in _VALUE_DEPENDENT}
    return {name: tensor if name in real else tensor.to("meta") for name, tensor in kept.items()}
