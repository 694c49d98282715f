"""The newest value against its history: rare alarms, found changes, and silence where too little is known."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.latest import FEWEST, against_history, is_new_level
from modeldyno.analysis.verdict import Change
from modeldyno.core.metrics import Direction

LESS = Direction.LESS


def series(seed: int, count: int = 30, noise: float = 0.01) -> list[float]:
    return (10 * np.exp(noise * np.random.default_rng(seed).standard_normal(count))).tolist()


def test_alarms_without_a_change_are_rare() -> None:
    verdicts = [against_history(values[:-1], values[-1], 0.02, LESS).change for values in map(series, range(300))]
    assert verdicts.count(Change.WORSE) <= 3


def test_a_clear_slowdown_is_found_and_the_way_back_is_faster() -> None:
    values = series(1)
    assert against_history(values, 11.0, 0.02, LESS).change is Change.WORSE
    assert against_history(values, 9.0, 0.02, LESS).change is Change.BETTER
    assert against_history(values, 9.0, 0.02, Direction.MORE).change is Change.WORSE


def test_the_baseline_begins_at_the_last_change_of_level() -> None:
    values = [*series(2), *(2 * value for value in series(3))]
    found = against_history(values, 20.0, 0.05, LESS)
    assert found.change is Change.SAME
    assert against_history(values, 10.0, 0.05, LESS).change is Change.BETTER


def test_one_spike_in_the_past_does_not_blind() -> None:
    values = [*series(4, 15), 100.0, *series(5, 14)]
    assert against_history(values, 11.0, 0.02, LESS).change is Change.WORSE


@pytest.mark.parametrize("earlier", [[], [1.0] * (FEWEST - 1), [0.0] * 10, [math.nan] * 10])
def test_too_little_or_no_number_says_nothing(earlier: list[float]) -> None:
    found = against_history(earlier, 1.0, 0.02, LESS)
    assert (found.change, found.ratio) == (Change.AMBIGUOUS, None)


def test_a_new_level_takes_more_than_one_value() -> None:
    values = series(6)
    assert not is_new_level([*values, 11.0])
    assert is_new_level([*values, 11.0, 11.05, 10.95, 11.0])


@given(st.lists(st.floats(1e-6, 1e6), max_size=20), st.floats(1e-6, 1e6))
def test_any_values_give_finite_answers(earlier: list[float], new: float) -> None:
    found = against_history(earlier, new, 0.02, LESS)
    if found.ratio is not None:
        assert all(map(math.isfinite, (found.ratio.value, found.ratio.low, found.ratio.high)))
