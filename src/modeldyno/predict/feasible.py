"""What cannot work whatever its speed: a way that its platform refuses, or a model whose weights do not fit."""

from __future__ import annotations

from modeldyno.core.types import Case
from modeldyno.platforms import PLATFORMS
from modeldyno.predict.cells import Cell
from modeldyno.predict.specifications import specification

_BYTES = {"fp32": 4.0, "amp": 4.0, "fp16": 2.0, "bf16": 2.0, "fp8": 1.0, "int8": 1.0, "int4": 0.5}
"""Of a weight; of other precisions nobody said."""
_TRAINED_BYTES = 16.0
"""Weight, gradient and the two moments of Adam, in single precision."""
_GB_PER_MB = 2**20 / 1e9


def refused(case: Case, cell: Cell) -> str | None:
    """Why its platform would not take the case there; None where it would, or where the way is not one of ours."""
    if cell.platform not in PLATFORMS.names() or cell.runtime not in PLATFORMS.get(cell.platform).runtimes:
        return None
    moved = {"platform": cell.platform, "runtime": cell.runtime, "precision": cell.precision, "batch": cell.batch}
    return PLATFORMS.get(cell.platform).refuses(case.model_copy(update=moved))


def too_large(cell: Cell, memory_mb: float | None = None) -> str | None:
    """Whether the weights alone are more than the device holds, by its own word or its maker's."""
    per_weight = _TRAINED_BYTES if cell.work.startswith("training") else _BYTES.get(cell.precision)
    published = specification(cell.device)
    has_gb = memory_mb * _GB_PER_MB if memory_mb else published.memory_gb if published else None
    if not (cell.parameters and per_weight and has_gb):
        return None
    needs_gb = cell.parameters * per_weight / 1e3
    what = "weights, gradients and the optimizer's state" if per_weight == _TRAINED_BYTES else "weights"
    return f"does not fit: {what} take {needs_gb:.3g} GB, the device has {has_gb:.3g} GB" if needs_gb > has_gb else None
