"""Parameters and operations of a model, counted on the meta device: no weights, no time, any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import is_out_of_memory
from modeldyno.models import _library
from modeldyno.models._architecture import is_linear, parts_of
from modeldyno.models._blank import blank, blank_tensors, values_do_not_matter
from modeldyno.models._inputs import full_shape, model_inputs
from modeldyno.models._resolve import ModelSpec, SourceKind
from modeldyno.models._step import as_step

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays


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


def count_parameters(spec: ModelSpec) -> int:
    """Of a model of a library; its operations are left alone."""
    return _parameters(_meta_model(spec))


def count_with(spec: ModelSpec, arrays: Arrays) -> Counts:
    """Count a model with the inputs of one step."""
    model = _meta_model(spec)
    parameters = _parameters(model)
    try:
        with _library.quiet():
            return Counts(parameters, _all_operations(spec, model, arrays) / 1e9)
    except Exception as error:  # any model may do what tracing cannot follow; the count is optional
        if is_out_of_memory(error):
            raise
        return Counts(parameters, None, f"the step cannot be traced: {_library.first_line(error)}")


def _parameters(model: Any) -> int:
    return sum(parameter.numel() for parameter in model.parameters())


def _all_operations(spec: ModelSpec, model: Any, arrays: Arrays) -> int:
    if not is_linear(spec.member, spec.model_type or ""):
        return _operations(spec, model, arrays)
    # Tracing every token of a recurrence takes seconds; two short lengths give the line exactly.
    length = int(arrays["input_ids"].shape[1])
    if length < 4:
        return _operations(spec, model, arrays)
    at_2, at_4 = (_operations(spec, model, {k: v[:, :n] for k, v in arrays.items()}) for n in (2, 4))
    return at_2 + (at_4 - at_2) * (length - 2) // 2


def _meta_model(spec: ModelSpec) -> Any:
    # Fused attention kernels are not counted; eager attention is plain matrix products.
    return _with_traceable_experts(blank(spec, attn_implementation="eager").eval())


def _with_traceable_experts(model: Any) -> Any:
    # Of transformers' ways to run experts, the one that needs no look at where the router sends each token.
    if hasattr(model, "_can_set_experts_implementation") and model._can_set_experts_implementation():
        model.set_experts_implementation("batched_mm")
    return model


def _operations(spec: ModelSpec, model: Any, arrays: Arrays) -> int:
    torch = _library.load_torch()
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    calls = _calls(spec, model.requires_grad_(False), blank_tensors(spec, arrays))
    with torch.no_grad(), counter, values_do_not_matter():
        for call in calls:
            call()
    return int(counter.get_total_flops())


def _calls(spec: ModelSpec, model: Any, inputs: dict[str, Any]) -> Sequence[Callable[[], Any]]:
    parts = parts_of(spec.member, model, inputs)
    if parts is not None:
        return parts
    step = as_step(model, spec.member)
    return (lambda: step(**inputs),)
