"""A bad host told from a bad commit, where the same case was measured on several hosts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, median, stdev

from modeldyno.analysis.calibration import SHORTEST
from modeldyno.analysis.levels import ratio_interval, ratio_of_levels
from modeldyno.analysis.verdict import Change, judge
from modeldyno.core.metrics import Direction
from modeldyno.measure.statistics import Interval, student

ByHost = Mapping[str, Sequence[float]]


class Suspect(StrEnum):
    COMMIT = "commit"
    HOST = "host"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class Suspicion:
    """What is behind a change, as far as the hosts tell."""

    what: Suspect
    hosts: tuple[str, ...]
    """Those that changed, where the suspect is a host; those that agree, where it is a commit."""


def suspect(before: ByHost, after: ByHost, margin: float) -> Suspicion:
    """Values of one case from before and after a change, by host: all change alike, or some while most do not."""
    moves = {host: _move(before[host], after[host], margin) for host in sorted(before.keys() & after.keys())}
    up = tuple(host for host, move in moves.items() if move is Change.WORSE)
    down = tuple(host for host, move in moves.items() if move is Change.BETTER)
    stayed = sum(move is Change.SAME for move in moves.values())
    if len(moves) > 1 and len(moves) in (len(up), len(down)):
        return Suspicion(Suspect.COMMIT, up or down)
    if 0 < len(up + down) <= stayed:
        return Suspicion(Suspect.HOST, tuple(sorted(up + down)))
    return Suspicion(Suspect.UNKNOWN, ())


def _move(before: Sequence[float], after: Sequence[float], margin: float) -> Change:
    """Worse stands for up here, whatever the metric."""
    ratio = ratio_of_levels(before, after)
    return judge(ratio, margin, Direction.LESS) if ratio else Change.AMBIGUOUS


def odd_hosts(by_commit: Sequence[ByHost], margin: float) -> dict[str, Interval]:
    """Hosts whose level for the same commits is not that of the middle host, and by how much.

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
