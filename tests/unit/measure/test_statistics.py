"""The statistics hold what they promise, on known answers and on anything hypothesis finds."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.measure import statistics

positive = st.lists(st.floats(min_value=1e-3, max_value=1e6), min_size=1, max_size=200)


@given(positive)
def test_the_interval_contains_the_median_and_stays_in_the_data(values: list[float]) -> None:
    interval = statistics.median_interval(values)
    assert min(values) <= interval.low <= interval.value <= interval.high <= max(values)


def test_interval_lies_between_the_published_ranks() -> None:
    """n = 100: ranks floor(50 - 9.8) = 40 and ceil(51 + 9.8) = 61 cover more than 95 %, the next ones less."""
    interval = statistics.median_interval(list(range(1, 101)))
    assert 40 < interval.low < 41
    assert interval.low + interval.high == pytest.approx(101)


@pytest.mark.parametrize("count", [6, 10, 31, 300, 501])
def test_the_interval_covers_what_it_says(count: int) -> None:
    dice = np.random.default_rng(count)
    found = [statistics.median_interval(dice.lognormal(size=count).tolist()) for _ in range(2000)]
    assert 0.935 <= sum(interval.low <= 1 <= interval.high for interval in found) / len(found) <= 0.97


def test_processes_that_disagree_widen_the_interval() -> None:
    rng = np.random.default_rng(2)
    alike = [rng.normal(10, 0.1, 50) for _ in range(3)]
    apart = [rng.normal(level, 0.1, 50) for level in (9, 10, 11)]
    narrow, wide = statistics.grouped_median_interval(alike), statistics.grouped_median_interval(apart)
    assert wide.high - wide.low > 5 * (narrow.high - narrow.low)
    assert wide.low < 9.5 < 10.5 < wide.high


@given(st.lists(positive, min_size=1, max_size=4))
def test_grouped_interval_contains_its_value(groups: list[list[float]]) -> None:
    interval = statistics.grouped_median_interval(groups)
    assert interval.low <= interval.value <= interval.high


def test_every_process_counts_alike_however_long_it_sampled() -> None:
    groups = [[10.0] * 30, [10.0] * 30, [13.0] * 600]
    assert statistics.grouped_median_interval(groups).value == 10.0


@pytest.mark.parametrize("processes", [3, 5])
def test_the_interval_over_processes_covers_in_about_95_percent(processes: int) -> None:
    rng = np.random.default_rng(3)
    covered = 0
    for _ in range(1500):
        levels = rng.lognormal(0.0, 0.05, processes)
        groups = [level * rng.lognormal(0.0, 0.02, 20) for level in levels]
        interval = statistics.grouped_median_interval(groups)
        covered += interval.low <= 1.0 <= interval.high
    assert 0.93 <= covered / 1500 <= 0.97


def test_students_quantiles_are_the_published_ones() -> None:
    published = {1: 12.706, 2: 4.303, 9: 2.262, 10: 2.228, 30: 2.042, 100: 1.984}
    assert {f: statistics.student(f) for f in published} == pytest.approx(published, abs=0.003)


@pytest.mark.parametrize(("rank", "needed"), [(90, 64), (95, 130), (99, 662)])
def test_percentiles_need_enough_samples(rank: int, needed: int) -> None:
    assert statistics.percentile([1.0] * (needed - 1), rank) is None
    assert statistics.percentile([1.0] * needed, rank) == 1.0


def test_windows_agree_only_when_level_and_spread_do() -> None:
    flat = [1.0, 1.01, 0.99] * 4
    assert statistics.windows_agree(flat, flat)
    assert not statistics.windows_agree([v * 1.2 for v in flat], flat)
    assert not statistics.windows_agree([0.7, 1.0, 1.3] * 4, flat)


def test_noise_settles_when_it_no_longer_changes() -> None:
    assert not statistics.noise_settled([0.05] * 63)
    assert statistics.noise_settled([0.05] * 64)
    assert not statistics.noise_settled([0.5 / n for n in range(1, 65)])


def test_spread_and_outliers() -> None:
    values = [1.0, 1.1, 0.9, 1.05, 0.95] * 10 + [50.0]
    assert statistics.outlier_share(values) == pytest.approx(1 / 51)
    assert statistics.spread([1.0] * 10) == 0.0
