"""Holds outputs against the reference: a fast wrong answer is not a result."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.protocols import Reference
from modeldyno.core.types import OutputCheck, Precision

Array = np.ndarray[Any, Any]

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

TOLERANCE = {Precision.FP32: 1e-3, Precision.FP16: 2e-2, Precision.BF16: 8e-2, Precision.INT8: 3e-1}
"""Largest relative L2 distance: about five times what sound runtimes show on random weights (docs/measuring.md)."""


def check_outputs(outputs: Arrays, reference: Reference, precision: Precision) -> OutputCheck:
    """The worst relative L2 distance over all outputs; missing or non-finite outputs fail."""
    tolerance = TOLERANCE[precision]
    worst, worst_name, compared = 0.0, next(iter(reference.values), None), 0
    for name, expected in reference.values.items():
        got = outputs.get(name)
        distance = _distance(got, expected, reference.strides[name])
        if distance is None:
            return _verdict(reference, None, tolerance, compared, name)
        compared += expected.size
        if distance >= worst:
            worst, worst_name = distance, name
    return _verdict(reference, worst, tolerance, compared, worst_name)


def _distance(got: Array | None, expected: Array, stride: int) -> float | None:
    if got is None or not np.isfinite(got).all():
        return None
    picked = got.astype(np.float64).ravel()[::stride]
    if picked.size != expected.size:
        return None
    norm = float(np.linalg.norm(expected.astype(np.float64)))
    return float(np.linalg.norm(picked - expected)) / max(norm, 1e-12)


def _verdict(
    reference: Reference, distance: float | None, tolerance: float, compared: int, name: str | None
) -> OutputCheck:
    return OutputCheck(
        reference=reference.made_by,
        rel_l2=distance,
        tolerance=tolerance,
        passed=distance is not None and distance <= tolerance,
        compared=compared,
        worst_output=name,
    )
