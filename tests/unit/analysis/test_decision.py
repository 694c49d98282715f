"""Decisions over blocks: alarms are rare without a change, and a change beyond the margin is found."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.decision import LOOKS, block_ratio, decide
from modeldyno.analysis.verdict import Change
from modeldyno.core.metrics import Direction

LESS, MORE = Direction.LESS, Direction.MORE


def test_turns_are_held_against_their_neighbours_so_that_drift_cancels() -> None:
    drift = [1.0, 1.3, 1.1, 2.0]
    old = [[level, level * 1.01, level * 0.99] for level in drift]
    new = [[sample * 1.05 for sample in turn] for turn in old]
    assert block_ratio(old, new) == pytest.approx(math.log(1.05))


@pytest.mark.parametrize(
    ("old", "new"), [([], []), ([[]], [[1.0]]), ([[0.0]], [[1.0]]), ([[math.nan]], [[1.0]]), ([[1.0]], [[math.inf]])]
)
def test_nothing_to_compare_is_no_ratio(old: list[list[float]], new: list[list[float]]) -> None:
    assert block_ratio(old, new) is None


def simulated(effect: float, noise: float, seed: int, looks: tuple[int, ...] = LOOKS) -> Change:
    """The first decision of a gate whose blocks scatter by this much."""
    dice = np.random.default_rng(seed)
    ratios = math.log1p(effect) + noise * dice.standard_normal(looks[-1])
    controls = noise * dice.standard_normal(looks[-1])
    change = Change.AMBIGUOUS
    for look in looks:
        change = decide(ratios[:look].tolist(), controls[:look].tolist(), 0.02, LESS).change
        if change is not Change.AMBIGUOUS:
            break
    return change


def test_without_a_change_hardly_ever_an_alarm() -> None:
    found = [simulated(0.0, 0.03, seed) for seed in range(400)]
    assert found.count(Change.WORSE) <= 2
    quiet = [simulated(0.0, 0.005, seed) for seed in range(400)]
    assert quiet.count(Change.SAME) >= 390


def test_a_change_at_the_margin_is_not_called_worse_more_often_than_stated() -> None:
    found = [simulated(0.02, 0.01, seed) for seed in range(400)]
    assert found.count(Change.WORSE) <= 20


def test_five_percent_is_found_where_blocks_scatter_by_one() -> None:
    found = [simulated(0.05, 0.01, seed) for seed in range(200)]
    assert found.count(Change.WORSE) >= 196
    faster = [simulated(-0.05, 0.01, seed) for seed in range(50)]
    assert faster.count(Change.BETTER) >= 48


def test_more_is_better_for_rates() -> None:
    ratios = [0.05, 0.051, 0.049, 0.05, 0.052]
    assert decide(ratios, (), 0.02, MORE).change is Change.BETTER
    assert decide([-ratio for ratio in ratios], (), 0.02, MORE).change is Change.WORSE
    assert decide(ratios, (), 0.02, LESS).change is Change.WORSE


def test_a_noisy_control_hides_changes_but_proves_no_sameness() -> None:
    control = [0.2, -0.2, 0.15, -0.1, 0.18]
    slower = decide([0.05, 0.051, 0.049, 0.05, 0.052], control, 0.02, LESS)
    assert slower.change is Change.AMBIGUOUS
    assert slower.widened_by_noise
    assert slower.margin > 0.05


def test_too_few_blocks_say_nothing() -> None:
    assert decide([], [], 0.02, LESS).change is Change.AMBIGUOUS
    assert decide([0.5], [], 0.02, LESS).ratio is None


@given(st.lists(st.floats(-50, 50), max_size=12), st.lists(st.floats(-50, 50), max_size=12), st.floats(0.001, 0.9))
def test_any_blocks_give_a_verdict_with_finite_numbers(
    ratios: list[float], control: list[float], margin: float
) -> None:
    found = decide(ratios, control, margin, LESS)
    assert found.p_value is None or 0 <= found.p_value <= 1
    assert math.isfinite(found.margin)
    if found.change in (Change.WORSE, Change.BETTER):
        assert found.ratio is not None
        assert abs(math.log(found.ratio.value)) > math.log1p(margin)
