"""Which candidates no other beats: as good in every aim, and better in one."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from modeldyno.core.metrics import Direction


@dataclass(frozen=True)
class Frontier:
    """The candidates that are left when all that are beaten are taken away."""

    places: tuple[int, ...]
    """Where they stand among the points that were given, the best in the first aim first; equal ones all stay."""
    left_out: tuple[int, ...]
    """Points with a value that is no number; they neither beat nor stay."""


def frontier(points: Sequence[Sequence[float]], directions: Sequence[Direction]) -> Frontier:
    """The points that no other dominates (Pareto), with as many values each as there are directions."""
    signs = [_sign(direction) for direction in directions]
    costs = {
        place: tuple(sign * value for sign, value in zip(signs, point, strict=True))
        for place, point in enumerate(points)
        if all(map(math.isfinite, point))
    }
    kept: list[int] = []
    # In this order whoever beats a point comes before it, and was itself kept or beaten by one that was.
    for place in sorted(costs, key=lambda place: (costs[place], place)):
        if not any(_beats(costs[other], costs[place]) for other in kept):
            kept.append(place)
    return Frontier(tuple(kept), tuple(place for place in range(len(points)) if place not in costs))


def _sign(direction: Direction) -> float:
    if direction is Direction.NEITHER:
        raise ValueError("An aim needs a direction: less or more.")
    return -1.0 if direction is Direction.MORE else 1.0


def _beats(one: tuple[float, ...], other: tuple[float, ...]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))
