"""The search for the highest rate that holds: in growing steps until it is passed, then by halving."""

from __future__ import annotations

import math
from collections.abc import Callable

STEP = 1.2
CLOSE = 1.05
"""Two rates this near to each other are as good as one."""
MAJORITY = 2
"""Of three tests: so many that agree decide about a rate at the edge."""
Holds = Callable[[float], bool]


def highest_rate(holds: Holds, start: float, floor: float) -> float | None:
    """The highest rate found to hold, within a few percent; None where not even the floor does.

    One test decides about a rate on the way. The lowest that missed is tested again: an accident of the host must not
    lower what is found any more than it may raise it, for which the caller tests the rate found again.
    """
    low, high = _bracket(holds, start, floor)
    while low is not None:
        low, high = _narrowed(holds, low, high)
        if not agreed(holds, high, False):
            return low
        low, high = _raised(holds, high)
    return None


def agreed(holds: Holds, rate: float, *known: bool) -> bool:
    """What two of three tests say, some of which are known."""
    said = [*known]
    while max(said.count(True), said.count(False)) < MAJORITY:
        said.append(holds(rate))
    return said.count(True) == MAJORITY


def _narrowed(holds: Holds, low: float, high: float) -> tuple[float, float]:
    while high / low > CLOSE:
        middle = math.sqrt(low * high)
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low, high


def _bracket(holds: Holds, start: float, floor: float) -> tuple[float | None, float]:
    """A rate that holds and a higher one that does not."""
    if holds(start):
        return _raised(holds, start)
    high, step = start, STEP
    while high > floor:
        low = max(floor, high / step)
        if holds(low):
            return low, high
        high, step = low, step * STEP
    return None, floor


def _raised(holds: Holds, low: float) -> tuple[float, float]:
    step = STEP
    while holds(low * step):
        low, step = low * step, step * STEP
    return low, low * step
