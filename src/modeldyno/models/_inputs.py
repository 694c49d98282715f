"""The inputs of one step: asked sizes checked and completed, arrays drawn from a seeded generator."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.models import _library
from modeldyno.models._architecture import Adapts
from modeldyno.models._resolve import ModelSpec

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays


def full_shape(spec: ModelSpec, shape: Mapping[str, int] | None) -> dict[str, int]:
    """The asked sizes over the model's defaults. Raises InputError for a size the model does not have."""
    asked = dict(shape or {})
    if unknown := sorted(set(asked) - set(spec.axes)):
        have = ", ".join(spec.axes) or "no sizes beyond the batch"
        raise InputError(f"'{spec.name}' has no size '{unknown[0]}'; it has: {have}.")
    if wrong := [axis for axis, size in asked.items() if size < 1]:
        raise InputError(f"{wrong[0]}={asked[wrong[0]]} is not a size; give 1 or more.")
    return {**spec.axes, **asked}


def model_inputs(spec: ModelSpec, batch: int, shape: Mapping[str, int], seed: int = 0) -> Arrays:
    """Inputs for a model of a library. Raises Unsupported where the model cannot take that size."""
    import numpy as np

    member = spec.member
    assert member is not None
    config = _library.configuration(spec.config)
    try:
        arrays = member.inputs(config, batch, shape, np.random.default_rng(seed))
    except (AttributeError, LookupError, TypeError, ValueError) as error:
        raise Unsupported(
            f"the configuration of '{spec.name}' does not say what its inputs need: {_library.first_line(error)}",
            "export it to ONNX and give the .onnx file",
        ) from error
    return (
        arrays if isinstance(member, Adapts) else _library.accepted(_library.model_class(spec.config, member), arrays)
    )
