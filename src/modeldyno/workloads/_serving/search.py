"""The search for the highest rate that holds: in large steps until it is passed, then by halving."""

from __future__ import annotations

import math
from collections.abc import Callable

STEP = 1.25
CLOSE = 1.03
"""Two rates this near to each other are as good as one."""
LOWER = 0.95
"""What a rate is lowered by when it did not hold for longer."""


def highest_rate(holds: Callable[[float], bool], start: float, floor: float) -> float | None:
    """The highest rate found to hold, within a few percent; None where not even the floor does."""
    low, high = _bracket(holds, start, floor)
    if low is None:
        return None
    while high / low > CLOSE:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def _bracket(holds: Callable[[float], bool], start: float, floor: float) -> tuple[float | None, float]:
    """A rate that holds and a higher one that does not."""
    if holds(start):
        low = start
        while holds(low * STEP):
            low *= STEP
        return low, low * STEP
    high, step = start, STEP
    while high > floor:
        low = max(floor, high / step)
        if holds(low):
            return low, high
        high, step = low, step * STEP
    return None, floor
