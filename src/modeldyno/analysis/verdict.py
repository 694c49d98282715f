"""The verdict on a ratio: a change counts only when all of its interval lies beyond a margin that matters."""

from __future__ import annotations

import math
from enum import StrEnum

from modeldyno.core.metrics import Direction, metric
from modeldyno.measure.statistics import Interval

MARGINS = {"MB": 0.01}
"""By unit: the smallest change that matters, as a share."""
MARGIN = 0.02
_SPEED = ("ms", "items/s", "tokens/s", "GFLOP/s", "GB/s", "us")


class Change(StrEnum):
    """What became of a metric; `SAME` says that it was shown to be within the margin, not that nothing was seen."""

    BETTER = "better"
    WORSE = "worse"
    SAME = "same"
    AMBIGUOUS = "ambiguous"


def margin_of(name: str) -> float:
    """The smallest change of this metric that matters unless the user says otherwise."""
    return MARGINS.get(metric(name).unit, MARGIN)


def judge(ratio: Interval, margin: float, direction: Direction) -> Change:
    """`ratio` is the new over the old. Of a metric without a better side any change beyond the margin is worse."""
    if not all(math.isfinite(bound) and bound > 0 for bound in (ratio.low, ratio.high)):
        return Change.AMBIGUOUS
    low, high = math.log(ratio.low), math.log(ratio.high)
    reach = math.log1p(margin)
    if -reach <= low and high <= reach:
        return Change.SAME
    if low > reach or high < -reach:
        better = (low > reach) == (direction is Direction.MORE) and direction is not Direction.NEITHER
        return Change.BETTER if better else Change.WORSE
    return Change.AMBIGUOUS


def word(change: Change, name: str) -> str:
    """The verdict as people say it of this metric: a time is slower, memory is worse."""
    if metric(name).unit not in _SPEED:
        return change.value
    return {Change.BETTER: "faster", Change.WORSE: "slower"}.get(change, change.value)
