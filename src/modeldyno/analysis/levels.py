"""How far two levels of a series are apart, and how far they would have to be for anybody to see it."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from modeldyno.analysis.calibration import SHORTEST, SPLIT, threshold
from modeldyno.analysis.changes import ALPHA, BUMP_SHARE, ChangePoint, noise_of
from modeldyno.analysis.noise import REACH, Noise
from modeldyno.measure.statistics import Interval, student

SEEN_AFTER = 5
"""Values of the new level after which a change should be seen."""
FEWEST_FOR_SMALLEST = 10
"""With fewer values the noise is not known well enough to say what would be seen."""
_Z90 = 1.2816
WIDEST = math.log(1e6)
"""Logarithm of the largest ratio that still says something."""


def ratio_of_levels(before: Sequence[float], after: Sequence[float], noise: Noise | None = None) -> Interval | None:
    """The second level over the first, with its 95 % interval; None where a ratio has no meaning or too few values.

    Means of logarithms, winsorised as in the detection, with a standard error that knows the autocorrelation. Where
    no noise is given, it is what the two levels show."""
    if min(len(before), len(after)) < SHORTEST or min(*before, *after) <= 0:
        return None
    known = noise or noise_of([*before, *after], (ChangePoint(len(before), 0.0),))
    middle = _centre(after, known) - _centre(before, known)
    half = student(len(before) + len(after) - 2) * known.error_of_difference(len(before), len(after))
    return ratio_interval(middle, half)


def ratio_interval(middle: float, half: float) -> Interval | None:
    """The interval of a ratio from that of its logarithm; None where it is too wide to say anything."""
    if abs(middle) + half > WIDEST:
        return None
    return Interval(math.exp(middle), math.exp(middle - half), math.exp(middle + half))


def _centre(values: Sequence[float], noise: Noise) -> float:
    logs = np.log(np.asarray(values, dtype=float))
    middle, reach = float(np.median(logs)), REACH * noise.sigma
    return float(np.clip(logs, middle - reach, middle + reach).mean())


def smallest_detectable(noise: Noise, before: int, after: int = SEEN_AFTER) -> float:
    """The step, on the scale of the noise, that is found in nine of ten cases once `after` values show it.

    (t + z.90) * standard error of the difference, where t is what the detection asks for at this length: it looks at
    all places at once, for which the usual z.99 would promise too much."""
    needed = threshold(SPLIT, before + after, ALPHA * (1 - BUMP_SHARE))
    return (needed + _Z90) * noise.error_of_difference(before, after)
