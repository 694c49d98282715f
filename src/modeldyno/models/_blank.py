"""A model without weights, on the meta device: it computes shapes, takes no memory and can have any size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import DynoError, JobError
from modeldyno.models import _library
from modeldyno.models._architecture import hints_of
from modeldyno.models._resolve import ModelSpec

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays


def blank(spec: ModelSpec, **options: Any) -> Any:
    """The library's own model; options go to its constructor, where it is one of transformers."""
    torch = _library.load_torch()
    assert spec.member is not None
    cls = _library.model_class(spec.config, spec.member)
    given = {} if _library.is_diffusers(spec.config) else options
    try:
        with torch.device("meta"):
            return _library.construct(cls, spec.config, **given)
    except (DynoError, MemoryError):
        raise
    except Exception as error:
        raise JobError(f"'{spec.name}' could not be built: {_library.first_line(error)}") from error


def blank_tensors(spec: ModelSpec, arrays: Arrays) -> dict[str, Any]:
    """Shapes without values, but for what decides the structure of the computation."""
    torch = _library.load_torch()
    assert spec.member is not None
    real = hints_of(spec.member, spec.model_type or "").constants
    tensors = {name: torch.from_numpy(array) for name, array in arrays.items()}
    return {name: tensor if name in real else tensor.to("meta") for name, tensor in tensors.items()}


def values_do_not_matter() -> Any:
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
