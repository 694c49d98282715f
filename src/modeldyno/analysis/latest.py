"""One new value against those before it: is it farther off than the next value of the same level would be?

A prediction interval for one further observation (Hahn and Meeker, "Statistical Intervals", 1991) on logarithms, with
the earlier values winsorised at 4 MAD so that a spike among them does not blind it. Once a few values show a new level,
that level is judged against the one before it instead."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from modeldyno.analysis.changes import find_changes
from modeldyno.analysis.decision import Decision, p_value, student_half_width
from modeldyno.analysis.levels import ratio_of_levels
from modeldyno.analysis.noise import RESOLUTION
from modeldyno.analysis.verdict import Change, judge
from modeldyno.core.metrics import Direction
from modeldyno.measure.statistics import Interval, mad

FEWEST = 5
"""Earlier values without which nothing is said."""
NEWS = 5
"""A change of level is news for so many values; then it is what later ones are held against."""
_REACH = 4 * 1.4826


@dataclass(frozen=True)
class Latest:
    """What the newest value says."""

    decision: Decision
    is_level: bool = False
    """Whether it is not this value alone: the values since the last change point were judged."""


def against_history(earlier: Sequence[float], new: float, margin: float, direction: Direction) -> Latest:
    """The verdict on the newest value; the earlier ones count from their last change of level on."""
    nothing = Latest(Decision(Change.AMBIGUOUS, None, None, margin, None))
    if not all(math.isfinite(value) and value > 0 for value in (*earlier, new)):
        return nothing
    values = [*earlier, new]
    places = [0, *(change.place for change in find_changes(values))]
    if len(places) > 1 and places[-1] >= len(values) - NEWS:
        ratio = ratio_of_levels(values[places[-2] : places[-1]], values[places[-1] :])
        if ratio:
            return Latest(_decision(ratio, margin, direction, len(values) - places[-2] - 2), is_level=True)
    level = values[places[-1] : -1]
    if len(level) < FEWEST:
        return nothing
    baseline = _winsorised([math.log(value) for value in level])
    off = math.log(new) - fmean(baseline)
    error = max(stdev(baseline), RESOLUTION) * math.sqrt(1 + 1 / len(baseline))
    half = student_half_width(len(baseline) - 1, error)
    ratio = Interval(math.exp(off), math.exp(off - half), math.exp(off + half))
    return Latest(_decision(ratio, margin, direction, len(baseline) - 1))


def _decision(ratio: Interval, margin: float, direction: Direction, freedom: int) -> Decision:
    """The p-value follows from the interval, which is Student's on logarithms."""
    error = math.log(ratio.high / ratio.low) / 2 / student_half_width(freedom, 1.0)
    p = p_value(math.log(ratio.value), error, freedom, margin, direction)
    return Decision(judge(ratio, margin, direction), ratio, p, margin, None)


def _winsorised(logs: Sequence[float]) -> list[float]:
    centre, reach = median(logs), _REACH * max(mad(logs), RESOLUTION)
    return [min(max(value, centre - reach), centre + reach) for value in logs]
