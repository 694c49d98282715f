"""One new value against those before it: is it farther off than the next value of the same level would be?

A prediction interval for one further observation (Hahn and Meeker, "Statistical Intervals", 1991) on logarithms, with
the earlier values winsorised at 4 MAD so that a spike among them does not blind it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from statistics import fmean, median, stdev

from modeldyno.analysis.changes import find_changes
from modeldyno.analysis.decision import Decision, p_value, student_half_width
from modeldyno.analysis.verdict import Change, judge
from modeldyno.core.metrics import Direction
from modeldyno.measure.statistics import Interval, mad

FEWEST = 5
"""Earlier values without which nothing is said."""
_REACH = 4 * 1.4826


def against_history(earlier: Sequence[float], new: float, margin: float, direction: Direction) -> Decision:
    """The verdict on the newest value; the earlier ones count from their last change of level on."""
    nothing = Decision(Change.AMBIGUOUS, None, None, margin, None)
    if not all(math.isfinite(value) and value > 0 for value in (*earlier, new)):
        return nothing
    changes = find_changes(earlier)
    level = earlier[changes[-1].place if changes else 0 :]
    if len(level) < FEWEST:
        return nothing
    baseline = _winsorised([math.log(value) for value in level])
    off = math.log(new) - fmean(baseline)
    error = stdev(baseline) * math.sqrt(1 + 1 / len(baseline))
    half = student_half_width(len(baseline) - 1, error)
    ratio = Interval(math.exp(off), math.exp(off - half), math.exp(off + half))
    p = p_value(off, error, len(baseline) - 1, margin, direction)
    return Decision(judge(ratio, margin, direction), ratio, p, margin, None)


def is_new_level(values: Sequence[float], within: int = 5) -> bool:
    """Whether the level has changed among the last few values, by the rules for change points."""
    changes = find_changes(values)
    return bool(changes) and changes[-1].place >= len(values) - within


def _winsorised(logs: Sequence[float]) -> list[float]:
    centre, reach = median(logs), _REACH * mad(logs)
    return [min(max(value, centre - reach), centre + reach) for value in logs] if reach else list(logs)
