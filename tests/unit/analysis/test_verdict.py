"""Verdicts: beyond the margin with all of the interval, within it with all of it, or ambiguous."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.verdict import Change, judge, margin_of, word
from modeldyno.core.errors import UnknownName
from modeldyno.core.metrics import Direction
from modeldyno.measure.statistics import Interval

OPPOSITE = {Change.BETTER: Change.WORSE, Change.WORSE: Change.BETTER}


def bounds(low: float, high: float) -> Interval:
    return Interval(math.sqrt(low * high) if low > 0 and math.isfinite(high) else low, low, high)


@pytest.mark.parametrize(
    ("low", "high", "direction", "change"),
    [
        (1.03, 1.10, Direction.LESS, Change.WORSE),
        (1.03, 1.10, Direction.MORE, Change.BETTER),
        (0.90, 0.97, Direction.LESS, Change.BETTER),
        (0.90, 0.97, Direction.MORE, Change.WORSE),
        (0.90, 0.97, Direction.NEITHER, Change.WORSE),
        (0.99, 1.01, Direction.LESS, Change.SAME),
        (1.01, 1.10, Direction.LESS, Change.AMBIGUOUS),
        (0.50, 2.00, Direction.LESS, Change.AMBIGUOUS),
    ],
)
def test_the_whole_interval_decides(low: float, high: float, direction: Direction, change: Change) -> None:
    assert judge(bounds(low, high), 0.02, direction) is change


@pytest.mark.parametrize("low", [0.0, -1.0, math.nan, math.inf])
def test_bounds_without_a_logarithm_decide_nothing(low: float) -> None:
    assert judge(Interval(1.0, low, 1.0), 0.02, Direction.LESS) is Change.AMBIGUOUS


@given(st.floats(0.1, 10), st.floats(1, 3), st.floats(0, 0.5), st.sampled_from([Direction.LESS, Direction.MORE]))
def test_turning_the_ratio_around_turns_the_verdict_around(
    low: float, width: float, margin: float, direction: Direction
) -> None:
    there = judge(Interval(low, low, low * width), margin, direction)
    back = judge(Interval(1 / low, 1 / (low * width), 1 / low), margin, direction)
    edge = any(
        abs(abs(math.log(bound)) - math.log1p(margin)) < 1e-9 for bound in (low, low * width)
    )  # there rounding decides
    assert edge or back is OPPOSITE.get(there, there)


def test_margins_and_words() -> None:
    assert (margin_of("latency_ms"), margin_of("memory_peak_mb")) == (0.02, 0.01)
    assert [word(Change.BETTER, name) for name in ("latency_ms", "throughput_per_s", "energy_j")] == [
        "faster", "faster", "better",
    ]  # fmt: skip
    assert word(Change.SAME, "latency_ms") == "same"
    with pytest.raises(UnknownName, match="did you mean 'latency_ms'"):
        margin_of("latency")
