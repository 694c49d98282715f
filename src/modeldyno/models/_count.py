"""Parameters and operations of a model, counted on the meta device: no weights, no time, any size."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import DynoError, JobError
from modeldyno.models import _library
from modeldyno.models._architecture import hints_of, is_linear, parts_of
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
    except Exception as error:  # noqa: BLE001 any model may do what tracing cannot follow; the count is optional
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
    torch = _library.load_torch()
    assert spec.member is not None
    cls = _library.model_class(spec.config, spec.member)
    # Fused attention kernels are not counted; eager attention is plain matrix products.
    options = {} if _library.is_diffusers(spec.config) else {"attn_implementation": "eager"}
    try:
        with torch.device("meta"):
            return _with_traceable_experts(_library.construct(cls, spec.config, **options).eval())
    except (DynoError, MemoryError):
        raise
    except Exception as error:
        raise JobError(f"'{spec.name}' could not be built: {_library.first_line(error)}") from error


def _with_traceable_experts(model: Any) -> Any:
    # Of transformers' ways to run experts, the one that needs no look at where the router sends each token.
    if hasattr(model, "_can_set_experts_implementation") and model._can_set_experts_implementation():
        model.set_experts_implementation("batched_mm")
    return model


def _operations(spec: ModelSpec, model: Any, arrays: Arrays) -> int:
    torch = _library.load_torch()
    from torch.utils.flop_counter import FlopCounterMode

    counter = FlopCounterMode(display=False)
    calls = _calls(spec, model.requires_grad_(False), _meta_inputs(spec, arrays))
    with torch.no_grad(), counter, _values_do_not_matter():
        for call in calls:
            call()
    return int(counter.get_total_flops())


def _calls(spec: ModelSpec, model: Any, inputs: dict[str, Any]) -> Sequence[Callable[[], Any]]:
    parts = parts_of(spec.member, model, inputs)
    if parts is not None:
        return parts
    step = as_step(model, spec.member)
    return (lambda: step(**inputs),)


def _meta_inputs(spec: ModelSpec, arrays: Arrays) -> dict[str, Any]:
    """Shapes without values, but for what decides the structure of the computation."""
    torch = _library.load_torch()
    assert spec.member is not None
    real = hints_of(spec.member, spec.model_type or "").constants
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return {name: tensor if name in real else tensor.to("meta") for name, tensor in tensors.items()}


def _values_do_not_matter() -> Any:
    """Let shapes flow where a model looks at values.

    Questions with a yes or a no (is the mask all ones, is this one sequence?) are answered yes; a real tensor that
    meets one without values loses its own.
    """
    from torch import Tensor
    from torch import bool as boolean
    from torch.ops import aten
    from torch.utils._python_dispatch import TorchDispatchMode
    from torch.utils._pytree import tree_leaves, tree_map

    def strip(value: Any) -> Any:
        return value.to("meta") if isinstance(value, Tensor) else value

    class Shapes(TorchDispatchMode):  # type: ignore[misc]
        def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
            if func is aten._local_scalar_dense.default and args[0].is_meta and args[0].dtype is boolean:
                return True
            tensors = [leaf for leaf in tree_leaves(args) if isinstance(leaf, Tensor)]
            if any(t.is_meta for t in tensors) and not all(t.is_meta for t in tensors):
                args = tree_map(strip, args)
            return func(*args, **(kwargs or {}))

    return Shapes()
