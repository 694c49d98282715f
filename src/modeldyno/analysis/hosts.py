"""A bad host told from a bad commit, where the same case was measured on several hosts.

Only values of one environment are held against each other: a new driver is neither a bad host nor a bad commit."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median, stdev

from modeldyno.analysis.calibration import SHORTEST
from modeldyno.analysis.environments import Environment
from modeldyno.analysis.levels import ratio_interval, ratio_of_levels
from modeldyno.analysis.verdict import Change, judge
from modeldyno.core.metrics import Direction
from modeldyno.measure.statistics import Interval, student

ByHost = Mapping[str, Sequence[float]]
"""Values by the host's id."""
ByPlace = Mapping[tuple[str, Environment], Sequence[float]]
"""Values by the host's id and the environment it was then."""


class Suspect(StrEnum):
    COMMIT = "commit"
    HOST = "host"
    NOT_COMMIT = "not_commit"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Suspicion:
    """What is behind a change, as far as the hosts tell."""

    what: Suspect
    hosts: tuple[str, ...]
    """Ids of those that changed, where the suspect is a host; of those that agree, where it is a commit."""


def suspect(before: ByPlace, after: ByPlace, margin: float) -> Suspicion:
    """Values of one case from before and after a change, by host: all change alike, or some while most do not."""
    moves = {place: _move(before[place], after[place], margin) for place in before.keys() & after.keys()}
    hosts = {move: {host for (host, _), found in moves.items() if found is move} for move in Change}
    up, down, stayed = hosts[Change.WORSE], hosts[Change.BETTER], hosts[Change.SAME]
    moved = up | down
    if len(moved) > 1 and not (up and down) and not stayed | hosts[Change.AMBIGUOUS]:
        return Suspicion(Suspect.COMMIT, tuple(sorted(moved)))
    if 0 < len(moved) <= len(stayed) and not moved & stayed:
        return Suspicion(Suspect.HOST, tuple(sorted(moved)))
    return Suspicion(Suspect.UNKNOWN, ())


def _move(before: Sequence[float], after: Sequence[float], margin: float) -> Change:
    """Worse stands for up here, whatever the metric."""
    ratio = ratio_of_levels(before, after)
    return judge(ratio, margin, Direction.LESS) if ratio else Change.AMBIGUOUS


def odd_hosts(by_commit: Sequence[ByHost], margin: float) -> dict[str, Interval]:
    """Hosts whose level for the same commits is not that of the middle host, and by how much; one item for each commit
    and environment.

    Of two hosts both are odd: nobody can tell which one is right."""
    logs: dict[str, list[float]] = {}
    for values in by_commit:
        levels = {host: math.log(median(found)) for host, found in values.items() if found and median(found) > 0}
        if len(levels) > 1:
            middle = median(levels.values())
            for host, level in levels.items():
                logs.setdefault(host, []).append(level - middle)
    ratios = {host: _interval(found) for host, found in logs.items() if len(found) >= SHORTEST}
    return {host: ratio for host, ratio in sorted(ratios.items()) if ratio and _differs(ratio, margin)}


def _interval(logs: Sequence[float]) -> Interval | None:
    return ratio_interval(fmean(logs), student(len(logs) - 1) * stdev(logs) / math.sqrt(len(logs)))


def _differs(ratio: Interval, margin: float) -> bool:
    return judge(ratio, margin, Direction.NEITHER) is Change.WORSE
