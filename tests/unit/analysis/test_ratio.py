"""Ratios: Welch's interval over processes, an allowance where there is one process, and never infinity."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import ttest_ind

from modeldyno.analysis.ratio import Ratio, estimate_of_samples, ratio, ratio_of_records
from modeldyno.core.types import Case, MetricValue, Record, Samples, Stop
from modeldyno.measure.statistics import grouped_median_interval

Groups = list[list[float]]


def record(groups: Groups, **metrics: MetricValue) -> Record:
    """As the runner makes it."""
    samples = tuple(
        Samples(process=place, host_ms=group, stop=Stop.SAMPLE_COUNT, steady=True) for place, group in enumerate(groups)
    )
    if groups:
        median = grouped_median_interval(groups).value
        given_ = {"latency_ms": MetricValue(value=median), "throughput_per_s": MetricValue(value=4e3 / median)}
        metrics = given_ | metrics
    case = Case(model="m", platform="cpu", runtime="torch", batch=4)
    return Record(run_id="r", case=case, status="ok", samples=samples, metrics=metrics)


def measured(dice: np.random.Generator, level: float, processes: int = 3, between: float = 0.02) -> Groups:
    return [list(level * math.exp(dice.normal(0, between)) * (1 + dice.gamma(1.5, 0.03, 25))) for _ in range(processes)]


def bounds(found: Ratio) -> tuple[float, float]:
    assert found.interval is not None
    return found.interval.low, found.interval.high


def test_it_is_welchs_interval_on_the_logarithms_of_the_medians() -> None:
    dice = np.random.default_rng(1)
    old, new = measured(dice, 10, 3), measured(dice, 12, 5)
    expected = ttest_ind(*(np.log([np.median(g) for g in groups]) for groups in (new, old)), equal_var=False)
    low, high = np.exp(expected.confidence_interval(0.95))
    found = ratio_of_records(record(old), record(new), "latency_ms")
    assert bounds(found) == pytest.approx((low, high))
    assert found.p_value(0.0) == pytest.approx(expected.pvalue)
    assert found.notes == ()


def test_a_rate_is_the_inverse_of_its_time() -> None:
    dice = np.random.default_rng(2)
    old, new = record(measured(dice, 10)), record(measured(dice, 5))
    time, rate = (ratio_of_records(old, new, name) for name in ("latency_ms", "throughput_per_s"))
    assert rate.value == pytest.approx(1 / time.value)
    assert bounds(rate) == pytest.approx(tuple(1 / bound for bound in reversed(bounds(time))))


@pytest.mark.parametrize("processes", [2, 3, 5])
def test_the_interval_covers_the_truth(processes: int) -> None:
    dice = np.random.default_rng(processes)
    tries, covered = 400, 0
    for _ in range(tries):
        old, new = (estimate_of_samples(measured(dice, level, processes)) for level in (10, 13))
        low, high = bounds(ratio(old, new))
        covered += low <= 1.3 <= high
    assert 0.93 <= covered / tries <= 0.99


def test_one_process_knows_nothing_of_others_so_a_spread_is_allowed_for() -> None:
    steady = [10 + 0.001 * number for number in range(50)]
    found = ratio_of_records(record([steady]), record([[1.05 * value for value in steady]]), "latency_ms")
    low, high = bounds(found)
    assert low < 1 < high, "5 % may be nothing but another process"
    assert "one process" in found.notes[0]
    clear = bounds(ratio_of_records(record([steady]), record([[2 * value for value in steady]]), "latency_ms"))
    assert clear[0] > 1.5


def test_a_range_over_processes_is_read_as_such() -> None:
    """The three values are known exactly, so that the interval is near that of the values themselves."""
    old, new = (
        MetricValue(value=v, low=v * 0.98, high=v * 1.02, n=3, note="range over 3 processes") for v in (100, 150)
    )
    found = ratio_of_records(record([], load_ms=old), record([], load_ms=new), "load_ms")
    low, high = bounds(found)
    assert 1.4 < low < 1.5 < high < 1.6
    assert found.notes == ()


def test_stored_intervals_serve_where_there_are_no_samples() -> None:
    old, new = (MetricValue(value=v, low=v * 0.99, high=v * 1.01) for v in (10.0, 20.0))
    found = ratio_of_records(record([], latency_ms=old), record([], latency_ms=new), "latency_ms")
    assert bounds(found)[0] > 1.5
    assert "from stored intervals" in found.notes[0]


@pytest.mark.parametrize(
    ("metric", "note"),
    [
        (None, "no energy_j was measured"),
        (MetricValue(value=None, note="no counter"), "no counter"),
        (MetricValue(value=0.0), "of which there is no ratio"),
        (MetricValue(value=-1.0), "of which there is no ratio"),
        (MetricValue(value=math.nan), "of which there is no ratio"),
        (MetricValue(value=math.inf), "of which there is no ratio"),
        (MetricValue(value=2.0), "without an interval"),
        (MetricValue(value=2.0, low=0.0, high=3.0), "reaches zero"),
    ],
)
def test_what_has_no_interval_says_why(metric: MetricValue | None, note: str) -> None:
    good = record([], energy_j=MetricValue(value=1.0, low=0.9, high=1.1))
    odd = record([], **({"energy_j": metric} if metric else {}))
    for found in (ratio_of_records(good, odd, "energy_j"), ratio_of_records(odd, good, "energy_j")):
        assert found.interval is None
        assert found.p_value(0.02) is None
        assert any(note in text for text in found.notes)


def test_too_few_samples_give_no_interval() -> None:
    found = ratio_of_records(record([[1.0, 1.1, 1.2]]), record([[2.0] * 20]), "latency_ms")
    assert (found.interval, found.notes[0]) == (None, "no interval from 3 samples")


def test_processes_that_agree_exactly_are_not_believed_to_the_last_digit() -> None:
    """As with a coarse clock, or where a range over processes has no width."""
    found = ratio_of_records(record([[10.0] * 9] * 3), record([[11.0] * 9] * 3), "latency_ms")
    old, new = (MetricValue(value=v, low=v, high=v, n=3, note="range over 3 processes") for v in (10.0, 11.0))
    stored = ratio_of_records(record([], load_ms=old), record([], load_ms=new), "load_ms")
    for ratio_ in (found, stored):
        assert bounds(ratio_) == pytest.approx((1.1, 1.1), rel=0.005)
        assert bounds(ratio_)[0] < 1.099 < 1.101 < bounds(ratio_)[1]
        assert 0 < (ratio_.p_value(0.02) or 0) < 0.001
        assert ratio_.p_value(0.2) == 1.0


@pytest.mark.parametrize(("name", "sign"), [("bandwidth_gb_per_s", -1), ("launch_us", 1), ("compute_rate_gflops", -1)])
def test_what_follows_from_the_time_has_its_interval(name: str, sign: int) -> None:
    dice = np.random.default_rng(3)
    old, new = measured(dice, 10), measured(dice, 5)
    time = ratio_of_records(record(old), record(new), "latency_ms")
    values = [MetricValue(value=grouped_median_interval(groups).value ** sign) for groups in (old, new)]
    found = ratio_of_records(record(old, **{name: values[0]}), record(new, **{name: values[1]}), name)
    assert bounds(found) == pytest.approx(sorted(bound**sign for bound in bounds(time)))
    assert found.notes == ()


anything = st.lists(st.lists(st.floats(), max_size=12), max_size=4)


@given(anything, anything)
def test_any_numbers_give_a_finite_answer_or_none(old: Groups, new: Groups) -> None:
    found = ratio(estimate_of_samples(old), estimate_of_samples(new))
    if found.interval:
        numbers = [found.value, *bounds(found), found.p_value(0.02)]
        assert all(number is not None and math.isfinite(number) for number in numbers)
        assert 0 < found.interval.low <= found.interval.value <= found.interval.high
    else:
        assert found.notes


positive = st.lists(st.lists(st.floats(0.01, 100), min_size=6, max_size=12), min_size=1, max_size=4)


@given(positive, positive)
def test_the_other_way_round_is_the_inverse(old: Groups, new: Groups) -> None:
    there, back = (ratio(estimate_of_samples(a), estimate_of_samples(b)) for a, b in ((old, new), (new, old)))
    assert (there.interval is None) == (back.interval is None)
    if there.interval:
        assert bounds(back) == pytest.approx(tuple(1 / bound for bound in reversed(bounds(there))))
        assert back.p_value(0.02) == pytest.approx(there.p_value(0.02))
