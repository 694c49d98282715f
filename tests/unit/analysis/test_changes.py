"""Change points: found where the level changes, rarely where it does not, never an error."""

from __future__ import annotations

import math
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeldyno.analysis.calibration import BUMP, SHORTEST, SPLIT, p_value, threshold
from modeldyno.analysis.changes import ALPHA, ChangePoint, find_changes, noise_of
from modeldyno.analysis.levels import ratio_of_levels, smallest_detectable
from modeldyno.analysis.noise import Noise

SERIES = 300


def noisy(seed: int, length: int, rho: float = 0.0, count: int = SERIES) -> np.ndarray:
    """Rows of AR(1) noise of unit variance."""
    rows = np.random.default_rng(seed).standard_normal((count, length))
    for place in range(1, length):
        rows[:, place] = rho * rows[:, place - 1] + math.sqrt(1 - rho * rho) * rows[:, place]
    return rows


def level(noise: np.ndarray, sigma: float = 0.01) -> list[float]:
    return [float(value) for value in 50 * np.exp(sigma * noise)]


def places(values: list[float]) -> list[int]:
    return [change.place for change in find_changes(values)]


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_noise_alone_is_rarely_taken_for_a_change(rho: float) -> None:
    flagged = sum(bool(places(level(row))) for row in noisy(1, 100, rho))
    assert flagged <= 0.02 * SERIES


def test_spikes_are_no_change() -> None:
    dice = np.random.default_rng(2)
    rows = noisy(3, 100)
    rows += (dice.random(rows.shape) < 0.05) * dice.uniform(5, 10, rows.shape)
    assert sum(bool(places(level(row))) for row in rows) <= 0.03 * SERIES


@pytest.mark.parametrize(("after", "share"), [(3, 0.65), (5, 0.9)])
def test_a_fresh_step_is_found_where_it_is(after: int, share: float) -> None:
    found = 0
    for row in noisy(4, 80):
        row[80 - after :] += 3
        found += any(abs(place - (80 - after)) <= 2 for place in places(level(row)))
    assert found >= share * SERIES


def test_a_bump_that_went_away_does_not_hide_itself_or_what_follows() -> None:
    row = noisy(5, 120, count=1)[0]
    row[40:52] += 8
    row[100:] += 5
    assert places(level(row)) == [40, 52, 100]


def test_opposite_steps_and_stairs() -> None:
    row = noisy(6, 90, count=1)[0]
    row[30:60] += 6
    row[60:] += 12
    assert places(level(row)) == [30, 60]


def test_one_wild_value_is_no_level() -> None:
    for row in noisy(7, 60, count=50):
        row[59] += 50
        assert places(level(row)) == []


def test_a_size_without_noise_changes_at_once() -> None:
    assert places([100.0] * 10 + [120.0] * 3) == [10]
    assert places([7.0] * 50) == places([0.0] * 50) == []
    assert places([0.0] * 20 + [5.0] * 5) == [20]


def test_below_the_resolution_nothing_changes() -> None:
    assert places([100.0] * 20 + [100.01] * 20) == []


def test_few_values_give_no_answer() -> None:
    assert find_changes([]) == find_changes([1.0]) == find_changes([1.0, 1.0, 1.0, 9.0, 9.0]) == ()


finite = st.floats(-1e300, 1e300)


@given(st.lists(finite, max_size=60))
def test_any_finite_values_are_answered(values: list[float]) -> None:
    changes = find_changes(values)
    assert all(0 <= change.p_value <= ALPHA for change in changes)
    edges = [0, *(change.place for change in changes), len(values)]
    assert not changes or all(b - a >= SHORTEST for a, b in pairwise(edges))
    if len(values) >= 2:
        noise = noise_of(values, changes)
        assert math.isfinite(noise.sigma)
        assert 0 <= noise.rho < 1


@settings(max_examples=30)
@given(st.integers(0, 2**32), st.floats(1e-3, 1e6))
def test_the_unit_does_not_matter(seed: int, factor: float) -> None:
    row = noisy(seed, 60, count=1)[0]
    row[45:] += 4
    values = level(row)
    assert places(values) == places([value * factor for value in values])


@given(st.integers(6, 3000), st.floats(0.01, 1e6), st.floats(1.001, 10))
def test_a_larger_statistic_is_never_less_surprising(length: int, value: float, factor: float) -> None:
    for statistic in (SPLIT, BUMP):
        small, large = p_value(statistic, length, value), p_value(statistic, length, value * factor)
        assert 0 <= large <= small <= 1


@pytest.mark.parametrize("length", [6, 35, 100, 700])
def test_threshold_and_p_value_are_inverse(length: int) -> None:
    assert p_value(SPLIT, length, threshold(SPLIT, length, 0.004)) == pytest.approx(0.004, rel=1e-6)


def test_noise_is_that_inside_the_levels() -> None:
    sigmas, rhos = [], []
    for row in noisy(8, 200, 0.5, 40):
        row[100:] += 30
        noise = noise_of(level(row), (ChangePoint(100, 0.0),))
        sigmas.append(noise.sigma)
        rhos.append(noise.rho)
    assert np.mean(sigmas) == pytest.approx(0.01, rel=0.05)
    assert 0.5 <= np.mean(rhos) <= 0.65


def test_the_smallest_detectable_change_is_detected_in_nine_of_ten() -> None:
    found = 0
    for row in noisy(9, 100):
        values = level(row)
        size = smallest_detectable(noise_of(values[:95], ()), 95)
        found += bool(places([*values[:95], *(value * math.exp(size) for value in values[95:])]))
    assert 0.83 * SERIES <= found <= 0.99 * SERIES


def test_autocorrelation_makes_the_smallest_detectable_change_larger() -> None:
    sizes = [smallest_detectable(Noise(0.01, rho), 95) for rho in (0.0, 0.3, 0.6)]
    assert sizes == sorted(sizes)
    assert sizes[2] > 1.3 * sizes[0]


@pytest.mark.parametrize("rho", [0.0, 0.5])
def test_the_interval_of_a_ratio_covers_it(rho: float) -> None:
    covered = 0
    for row in noisy(10, 60, rho):
        values = level(row + 4 * (np.arange(60) >= 50))
        ratio = ratio_of_levels(values[:50], values[50:])
        assert ratio is not None
        covered += ratio.low <= math.exp(0.04) <= ratio.high
    assert 0.91 * SERIES <= covered <= 0.995 * SERIES


def test_a_ratio_without_meaning_is_none() -> None:
    assert ratio_of_levels([1.0] * 3, [2.0, 2.0]) is None
    assert ratio_of_levels([0.0] * 3, [2.0] * 3) is None
    assert ratio_of_levels([-1.0] * 3, [2.0] * 3) is None
