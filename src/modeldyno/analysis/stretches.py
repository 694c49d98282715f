"""The levels of a series over time: what stays the same between its changes, in each environment."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from modeldyno.analysis.environments import by_environment
from modeldyno.analysis.history import History
from modeldyno.measure.statistics import Interval, median_interval
from modeldyno.store.points import Point


@dataclass(frozen=True)
class Level:
    """The median of the points from one change to the next."""

    points: tuple[Point, ...]
    value: Interval


def levels_of(history: History) -> tuple[Level, ...]:
    """In order of their beginning; environments that take turns have levels that overlap in time."""
    edges = {step.after.record_id for step in history.steps}
    pieces = [piece for points in by_environment(history.points).values() for piece in _split(points, edges)]
    return tuple(
        Level(tuple(piece), _median(piece))
        for piece in sorted(pieces, key=lambda piece: (piece[0].started_at, piece[0].record_id))
    )


def level_at(levels: Sequence[Level], point: Point) -> Level | None:
    """The one that a point belongs to."""
    return next((level for level in levels if any(one.record_id == point.record_id for one in level.points)), None)


def _split(points: Sequence[Point], edges: set[str]) -> list[list[Point]]:
    pieces: list[list[Point]] = []
    for point in points:
        if not pieces or point.record_id in edges:
            pieces.append([])
        pieces[-1].append(point)
    return pieces


def _median(points: Sequence[Point]) -> Interval:
    return median_interval([point.value for point in points if point.value is not None])
