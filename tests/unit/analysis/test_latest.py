"""The newest value against its history: rare alarms, found changes, and silence where too little is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.decision import Decision
from modeldyno.analysis.latest import FEWEST, against_history
from modeldyno.analysis.verdict import Change
from modeldyno.core.metrics import Direction

LESS = Direction.LESS


def judged(earlier: list[float], new: float, margin: float = 0.02, direction: Direction = LESS) -> Decision:
    return against_history(earlier, new, margin, direction).decision


def series(seed: int, count: int = 30, noise: float = 0.01) -> list[float]:
    return (10 * np.exp(noise * np.random.default_rng(seed).standard_normal(count))).tolist()


def test_alarms_without_a_change_are_rare() -> None:
    verdicts = [judged(values[:-1], values[-1]).change for values in map(series, range(300))]
    assert verdicts.count(Change.WORSE) <= 3


def test_a_clear_slowdown_is_found_and_the_way_back_is_faster() -> None:
    values = series(1)
    assert judged(values, 11.0).change is Change.WORSE
    assert judged(values, 9.0).change is Change.BETTER
    assert judged(values, 9.0, direction=Direction.MORE).change is Change.WORSE


def test_the_baseline_begins_at_the_last_change_of_level() -> None:
    values = [*series(2), *(2 * value for value in series(3))]
    found = judged(values, 20.0, 0.05)
    assert found.change is Change.SAME
    assert judged(values, 10.0, 0.05).change is Change.BETTER


def test_one_spike_in_the_past_does_not_blind() -> None:
    values = [*series(4, 15), 100.0, *series(5, 14)]
    assert judged(values, 11.0).change is Change.WORSE


@pytest.mark.parametrize("earlier", [[], [1.0] * (FEWEST - 1), [0.0] * 10, [math.nan] * 10])
def test_too_little_or_no_number_says_nothing(earlier: list[float]) -> None:
    found = judged(earlier, 1.0)
    assert (found.change, found.ratio) == (Change.AMBIGUOUS, None)


def test_a_new_level_is_confirmed_and_stays_news_for_a_while() -> None:
    """One bad run is an alarm, three are a level, after a few more it is what later runs are held against."""
    values, bad = series(6), [11.0, 11.05, 10.95, 11.02, 10.98, 11.0, 11.03, 10.97, 11.01, 11.0, 11.0, 10.99]
    seen = [against_history([*values, *bad[:count]], bad[count], 0.02, LESS) for count in range(12)]
    assert [latest.decision.change for latest in seen[:5]] == [Change.WORSE] * 5
    assert [latest.is_level for latest in seen[:5]] == [False, False, True, True, True]
    assert seen[-1].decision.change is Change.SAME


def test_equal_values_leave_room_for_the_last_digit() -> None:
    assert judged([10.0] * 8, 10.01).change is Change.SAME
    assert judged([*[10.0] * 9, 30.0], 11.0).change is Change.WORSE


@given(st.lists(st.floats(1e-6, 1e6), max_size=20), st.floats(1e-6, 1e6))
def test_any_values_give_finite_answers(earlier: list[float], new: float) -> None:
    found = judged(earlier, new)
    if found.ratio is not None:
        assert all(map(math.isfinite, (found.ratio.value, found.ratio.low, found.ratio.high)))
