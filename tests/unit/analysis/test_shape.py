"""The shape of samples: what is there is found, what is not there is not."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.shape import Label, SampleShape, describe, describe_record
from modeldyno.core.types import Case, Record, Samples

TRIES = 200
Dice = np.random.Generator


def autocorrelated(dice: Dice, n: int, phi: float = 0.5) -> np.ndarray:
    noise = dice.normal(size=n)
    for place in range(1, n):
        noise[place] += phi * noise[place - 1]
    return 10 * np.exp(0.03 * noise)


ONE_MODE: dict[str, Callable[[Dice, int], np.ndarray]] = {
    "narrow lognormal": lambda dice, n: dice.lognormal(2, 0.02, n),
    "wide lognormal": lambda dice, n: dice.lognormal(2, 0.5, n),
    "very skewed lognormal": lambda dice, n: dice.lognormal(2, 1.0, n),
    "exponential": lambda dice, n: 10 + dice.exponential(1, n),
    "heavy tails": lambda dice, n: 10 * np.exp(0.03 * dice.standard_t(3, n)),
    "autocorrelated": autocorrelated,
}


def share(what: Callable[[SampleShape], object], samples: Callable[[], np.ndarray]) -> float:
    return sum(what(describe(list(samples()))) is not None for _ in range(TRIES)) / TRIES


@pytest.mark.parametrize("name", ONE_MODE)
def test_one_mode_and_no_drift_are_left_in_peace(name: str) -> None:
    dice = np.random.default_rng(1)
    seen = [describe(list(ONE_MODE[name](dice, 100))) for _ in range(TRIES)]
    assert sum(shape.modes is not None for shape in seen) / TRIES <= 0.02
    assert sum(shape.drift is not None for shape in seen) / TRIES <= 0.03


def test_long_correlation_is_not_taken_for_a_drift() -> None:
    dice = np.random.default_rng(7)
    assert share(lambda shape: shape.drift, lambda: autocorrelated(dice, 300, 0.9)) <= 0.08


@pytest.mark.parametrize(("n", "least"), [(100, 0.95), (30, 0.6)])
def test_two_modes_are_found_and_named(n: int, least: float) -> None:
    dice = np.random.default_rng(2)

    def samples() -> np.ndarray:
        return 10 * (1 + 0.1 * (dice.random(n) < 0.3)) * np.exp(dice.normal(0, 0.015, n))

    assert share(lambda shape: shape.modes, samples) >= least
    modes = describe(list(10 * (1 + 0.2 * (dice.random(400) < 0.3)) * np.exp(dice.normal(0, 0.01, 400)))).modes
    assert modes is not None
    assert (modes.low, modes.high, modes.share_high) == pytest.approx((10, 12, 0.3), rel=0.15)


def test_modes_nearer_than_two_percent_do_not_matter() -> None:
    dice = np.random.default_rng(3)
    assert describe(list(np.where(dice.random(200) < 0.5, 10, 10.1) + dice.normal(0, 0.003, 200))).modes is None


def test_a_drift_is_found_with_its_size_and_direction() -> None:
    dice = np.random.default_rng(4)

    def samples(change: float, n: int = 200) -> np.ndarray:
        return 10 * (1 + change * np.linspace(0, 1, n)) * np.exp(dice.normal(0, 0.02, n))

    assert share(lambda shape: shape.drift, lambda: samples(0.05)) >= 0.95
    drift = describe(list(samples(-0.2))).drift
    assert drift is not None
    assert drift.change == pytest.approx(-0.22, abs=0.05)


def test_a_sure_but_tiny_drift_is_not_called() -> None:
    dice = np.random.default_rng(5)
    assert describe(list(10 * (1 + 0.005 * np.linspace(0, 1, 500)) + dice.normal(0, 0.001, 500))).drift is None


def test_outliers_are_labelled_by_distance_and_none_is_dropped() -> None:
    steady = [10 + 0.01 * (place % 11) for place in range(99)]
    shape = describe([*steady, 10.22, 10.3, 50.0, math.nan])
    labelled = {outlier.place: outlier.label for outlier in shape.outliers}
    assert labelled == {99: Label.MILD, 100: Label.FAR, 101: Label.EXTREME}
    assert (shape.n, shape.not_numbers, shape.count(Label.FAR)) == (102, 1, 1)


def test_one_spike_among_equal_samples_is_seen_and_the_clock_is_not() -> None:
    assert [o.value for o in describe([5.0] * 50 + [9.0]).outliers] == [9.0]
    assert describe([5.0] * 50).outliers == ()
    assert describe([5.0] * 50 + [5.0001] * 20).outliers == ()


@given(st.lists(st.floats(), max_size=80))
def test_any_numbers_give_an_answer(samples: list[float]) -> None:
    shape = describe(samples)
    assert shape.n + shape.not_numbers == len(samples)
    assert shape.spread is None or shape.spread >= 0
    if shape.drift:
        assert math.isfinite(shape.drift.change)


def record(*groups: list[float]) -> Record:
    samples = tuple(Samples(process=i, host_ms=group, stop="interval", steady=True) for i, group in enumerate(groups))
    case = Case(model="m", platform="cpu", runtime="torch")
    return Record(run_id="r", case=case, status="ok", samples=samples)


def test_sentences_say_what_to_do_and_which_process() -> None:
    dice = np.random.default_rng(6)
    calm = list(10 + dice.normal(0, 0.01, 50))
    rising = list(10 * (1 + 0.3 * np.linspace(0, 1, 60)) + dice.normal(0, 0.05, 60))
    assert describe_record(record(calm)) == ()
    assert describe_record(record()) == ()
    said = describe_record(record(calm, rising))
    assert all(sentence.startswith("process 1: ") for sentence in said)
    assert any("slower while sampling" in sentence for sentence in said)
    assert any("of the median, noisy" in sentence for sentence in said)
    (spiked,) = describe_record(record([*calm, 90.0]))
    assert spiked == "1 of 51 samples lie far from the rest: trust the median, not the mean."
