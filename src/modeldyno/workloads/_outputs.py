"""Holds outputs against the reference: a fast wrong answer is not a result."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from modeldyno.core.protocols import Reference
from modeldyno.core.types import OutputCheck, Precision
from modeldyno.models import relative_distance

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

TOLERANCE: dict[str, float] = {Precision.FP32: 1e-3, Precision.FP16: 2e-2, Precision.BF16: 8e-2, Precision.INT8: 3e-1}
"""Relative L2 distance that is always allowed."""
OWN_ROUNDING = 3.0
"""An output may be this many times as far off as PyTorch's own in that precision: some outputs are ill-conditioned."""
HOPELESS = 0.5
"""Never allowed: unrelated outputs are about 1.4 apart."""


def check_outputs(outputs: Arrays, reference: Reference, precision: str, rounding: Mapping[str, float]) -> OutputCheck:
    """The output that comes closest to its limit, or passes it; missing or non-finite outputs fail."""
    worst = OutputCheck(
        reference=reference.made_by, rel_l2=0.0, tolerance=TOLERANCE[precision], passed=True, compared=0
    )
    compared = sum(values.size for values in reference.values.values())
    strain = -1.0
    for name in reference.values:
        distance = relative_distance(outputs.get(name), reference, name)
        limit = max(TOLERANCE[precision], min(HOPELESS, OWN_ROUNDING * rounding.get(name, 0.0)))
        passed = distance is not None and distance <= limit
        if distance is None or distance / limit > strain:
            strain = float("inf") if distance is None else distance / limit
            changes = {"rel_l2": distance, "tolerance": limit, "passed": passed, "worst_output": name}
            worst = worst.model_copy(update={**changes, "compared": compared})
    return worst
