"""What a point was measured in beside its case: host, driver and software; and what differs between two points."""

from __future__ import annotations

from collections.abc import Iterable

from modeldyno.store.points import Point

Environment = tuple[str, str | None, tuple[tuple[str, str], ...]]


def by_environment(points: Iterable[Point]) -> dict[Environment, tuple[Point, ...]]:
    """By environment in order of first appearance; one that comes back goes on where it was."""
    split: dict[Environment, list[Point]] = {}
    for point in points:
        split.setdefault(environment_of(point), []).append(point)
    return {environment: tuple(found) for environment, found in split.items()}


def environment_of(point: Point) -> Environment:
    return point.host_id, point.driver, point.software


def differences(a: Point, b: Point) -> tuple[str, ...]:
    """What changed in the environment, in words."""
    old, new = ({"host": p.host, "driver": p.driver, **dict(p.software)} for p in (a, b))
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    told = tuple(f"{name} {old.get(name) or 'none'} -> {new.get(name) or 'none'}" for name in names)
    return told or (f"host {a.host_id} -> {b.host_id}",)
