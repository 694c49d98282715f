"""What a point was measured in beside its case, as far as it matters for speed; and what differs between two points.

Runners and containers are new machines every time, so it is not the host itself that counts but what it is like."""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache

from modeldyno.core.types import Host
from modeldyno.store.points import Point

Environment = tuple[tuple[str, str], ...]
"""What is known of it, by name."""


def by_environment(points: Iterable[Point]) -> dict[Environment, tuple[Point, ...]]:
    """By environment in order of first appearance; one that comes back goes on where it was."""
    split: dict[Environment, list[Point]] = {}
    for point in points:
        split.setdefault(environment_of(point), []).append(point)
    return {environment: tuple(found) for environment, found in split.items()}


def environment_of(point: Point) -> Environment:
    """Equal for points whose machines, device slots, drivers and software are equal."""
    return _environment(point.host, point.index, point.driver, point.software)


@lru_cache(maxsize=4096)
def _environment(host: Host, index: int, driver: str | None, software: tuple[tuple[str, str], ...]) -> Environment:
    parts = {
        # Of a machine of which nothing is known, no other is known to be equal.
        "host": host.host_id if host.cpu is None else None,
        "cpu": host.cpu,
        "cores": host.logical_cores,
        "memory GB": None if host.memory_mb is None else round(host.memory_mb / 1024),
        "system": _minor(host.system),
        "python": _minor(host.python),
        "device": index,
        "driver": driver,
    }
    return *((name, str(part)) for name, part in parts.items() if part is not None), *software


def _minor(version: str | None) -> str | None:
    """Up to the second number: patches of a kernel or of Python come every week."""
    return ".".join(version.split(".")[:2]) if version else None


def differences(a: Point, b: Point) -> tuple[str, ...]:
    """What changed in the environment, in words."""
    old, new = dict(environment_of(a)), dict(environment_of(b))
    names = [name for name in dict.fromkeys([*old, *new]) if old.get(name) != new.get(name)]
    return tuple(f"{name} {old.get(name, 'none')} -> {new.get(name, 'none')}" for name in names)
