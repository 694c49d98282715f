"""When to believe that one version is slower than another: paired blocks, looked at a few times, with a margin.

A block is a set of fresh processes that sampled in turns; its log-ratio is one observation (Kalibera and Jones,
"Rigorous benchmarking in reasonable time", 2013: the process is the unit of replication). The interval over blocks is
Student's: a bootstrap of five observations covers far less than it says. Looking more than once is paid for by
Bonferroni over the looks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, stdev

from modeldyno.analysis.verdict import Change, judge
from modeldyno.core.metrics import Direction
from modeldyno.measure.statistics import Interval

LOOKS = (5, 7, 10, 14, 20)
"""After so many blocks the evidence is looked at."""
CONFIDENCE = 0.95
"""Of the intervals, over all looks together."""

_FARTHEST = 100.0
"""Bounds in logarithms beyond which an interval says nothing, and would not fit a number."""


@dataclass(frozen=True)
class Decision:
    """What is known of one metric of one case."""

    change: Change
    ratio: Interval | None
    """New over old; None while there are too few blocks."""
    p_value: float | None
    """Of these blocks, if the change were not beyond the margin on the bad side; paid for all looks."""
    margin: float
    """What counted as worse or better: the one asked for, or the noise of the control where that is larger."""
    noise: float | None
    """How far the control may be from no change at all, as a share."""

    @property
    def widened_by_noise(self) -> bool:
        return self.noise is not None and self.noise == self.margin


def block_ratio(old: Sequence[Sequence[float]], new: Sequence[Sequence[float]]) -> float | None:
    """The log-ratio of one block: turns are held against their neighbours; None where nothing can be."""
    pairs = [(median(a), median(b)) for a, b in zip(old, new, strict=False) if a and b]
    logs = [math.log(b / a) for a, b in pairs if a > 0 and b > 0 and math.isfinite(a) and math.isfinite(b)]
    return median(logs) if logs else None


def decide(
    ratios: Sequence[float], control: Sequence[float], margin: float, direction: Direction, looks: int = len(LOOKS)
) -> Decision:
    """The verdict on the log-ratios of the blocks; `control` are those of the old version against itself."""
    confidence = 1 - (1 - CONFIDENCE) / looks
    noise = _noise(control)
    wide = max(margin, noise or 0.0)
    if len(ratios) < 2:
        return Decision(Change.AMBIGUOUS, None, None, wide, noise)
    low, high = _interval(ratios, confidence)
    ratio = Interval(math.exp(fmean(ratios)), math.exp(low), math.exp(high))
    change = judge(ratio, wide, direction)
    if change is Change.SAME and judge(ratio, margin, direction) is not Change.SAME:
        change = Change.AMBIGUOUS  # noise can hide a change, it cannot show that there is none
    error = stdev(ratios) / math.sqrt(len(ratios))
    p = p_value(fmean(ratios), error, len(ratios) - 1, wide, direction)
    return Decision(change, ratio, min(1.0, p * looks), wide, noise)


def _noise(control: Sequence[float]) -> float | None:
    """The larger end of the control's 95 % interval, as a share: without a change it should hold nothing but noise."""
    if len(control) < 2:
        return None
    return math.expm1(max(map(abs, _interval(control, CONFIDENCE))))


def _interval(values: Sequence[float], confidence: float) -> tuple[float, float]:
    centre, error = fmean(values), stdev(values) / math.sqrt(len(values))
    half = student_half_width(len(values) - 1, error, confidence)
    return max(centre - half, -_FARTHEST), min(centre + half, _FARTHEST)


def student_half_width(freedom: int, error: float, confidence: float = CONFIDENCE) -> float:
    """Half of Student's interval around an estimate with this standard error."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + confidence / 2)) * error


def p_value(centre: float, error: float, freedom: int, margin: float, direction: Direction) -> float:
    """One-sided t-test of a log-ratio against the margin on the bad side; without a better side, on both."""
    from scipy.special import stdtr

    both = direction is Direction.NEITHER
    bad = abs(centre) if both else -centre if direction is Direction.MORE else centre
    beyond = bad - math.log1p(margin)
    if error == 0:
        return 0.0 if beyond > 0 else 1.0
    return min(1.0, float(stdtr(freedom, -beyond / error)) * (2 if both else 1))
