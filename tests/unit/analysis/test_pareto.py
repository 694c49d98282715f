"""The frontier holds what nothing beats, and nothing else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.pareto import Frontier, frontier
from modeldyno.core.metrics import Direction

LESS, MORE = Direction.LESS, Direction.MORE
_values = st.one_of(st.integers(-3, 3).map(float), st.floats(), st.just(math.nan))
_directions = st.lists(st.sampled_from([LESS, MORE]), min_size=1, max_size=4)


@st.composite
def _cases(draw: st.DrawFn) -> tuple[list[tuple[float, ...]], list[Direction]]:
    directions = draw(_directions)
    point = st.tuples(*[_values] * len(directions))
    return draw(st.lists(point, max_size=30)), directions


def _beats(one: tuple[float, ...], other: tuple[float, ...], directions: list[Direction]) -> bool:
    pairs = [(a, b) if way is LESS else (b, a) for a, b, way in zip(one, other, directions, strict=True)]
    return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)


@given(_cases())
def test_it_is_what_the_definition_says(case: tuple[list[tuple[float, ...]], list[Direction]]) -> None:
    points, directions = case
    numbers = [place for place, point in enumerate(points) if all(map(math.isfinite, point))]
    unbeaten = {
        place for place in numbers if not any(_beats(points[other], points[place], directions) for other in numbers)
    }
    found = frontier(points, directions)
    assert set(found.places) == unbeaten
    assert len(found.places) == len(unbeaten)
    assert set(found.left_out) == set(range(len(points))) - set(numbers)


@given(_cases())
def test_it_goes_from_the_best_in_the_first_aim_to_the_worst(
    case: tuple[list[tuple[float, ...]], list[Direction]],
) -> None:
    points, directions = case
    first = [points[place][0] for place in frontier(points, directions).places]
    assert first == sorted(first, reverse=directions[0] is MORE)


@given(_cases(), st.randoms(use_true_random=False))
def test_the_order_of_the_points_does_not_matter(
    case: tuple[list[tuple[float, ...]], list[Direction]], random: object
) -> None:
    points, directions = case
    shuffled = list(points)
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    here, there = frontier(points, directions), frontier(shuffled, directions)
    assert [points[place] for place in here.places] == [shuffled[place] for place in there.places]


def test_less_time_and_more_throughput() -> None:
    points = [(4.0, 250.0), (6.0, 5000.0), (5.0, 200.0), (23.0, 1400.0)]
    assert frontier(points, [LESS, MORE]) == Frontier(places=(0, 1), left_out=())


def test_equal_points_all_stay() -> None:
    assert frontier([(1.0, 1.0), (2.0, 2.0), (1.0, 1.0)], [LESS, LESS]).places == (0, 2)


def test_nothing_gives_nothing() -> None:
    assert frontier([], [LESS, MORE]) == Frontier((), ())


def test_an_aim_without_direction_is_refused() -> None:
    with pytest.raises(ValueError, match="less or more"):
        frontier([(1.0,)], [Direction.NEITHER])
