"""What became of a metric over time: series in, levels, changes and their causes out.

Points that were measured in the same environment (machine, driver, software) are looked at together and apart from all
others, so that a new driver is reported as one and not as a regression."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise

from modeldyno.analysis.calibration import SHORTEST
from modeldyno.analysis.changes import ChangePoint, find_changes, noise_of
from modeldyno.analysis.environments import Environment, by_environment, differences, environment_of
from modeldyno.analysis.false_discovery import Q, discoveries
from modeldyno.analysis.hosts import ByPlace, Suspect, Suspicion, odd_hosts, suspect
from modeldyno.analysis.levels import FEWEST_FOR_SMALLEST, WIDEST, ratio_of_levels, smallest_detectable
from modeldyno.analysis.verdict import Change, judge, margin_of
from modeldyno.core.metrics import Direction, metric
from modeldyno.core.types import Status
from modeldyno.measure.statistics import Interval, median_interval
from modeldyno.store.points import Point, Series

_LARGEST = 1e300
"""No measurement is larger, and sums of a few would be infinite; NaN is not below it either."""


@dataclass(frozen=True)
class Step:
    """The level changed between two runs."""

    before: Point
    after: Point
    ratio: Interval | None
    """The new level over the old; None where that has no meaning, or too few points tell."""
    change: Change
    p_value: float | None
    """None for a change of the environment, which needs no test."""
    environment: tuple[str, ...] = ()
    """What differs in the environment: the cause, as far as it can be known."""
    gone: bool = False
    """A later level is back where it was, within the margin."""
    suspicion: Suspicion | None = None
    """Whether host or commit is behind it, where the commits or several hosts tell."""

    @property
    def is_alarm(self) -> bool:
        return self.change is Change.WORSE and not self.gone and not self.environment


@dataclass(frozen=True)
class History:
    """What is known of one metric of one series."""

    series: Series
    points: tuple[Point, ...]
    """Those that count."""
    level: Interval | None
    """Median since the last change, in the environment of the newest point."""
    since: int
    """Points since then."""
    steps: tuple[Step, ...]
    """Changes inside an environment, oldest first."""
    environments: tuple[Step, ...]
    """Changes of the environment, oldest first."""
    smallest: float | None
    """The change, as a share, that is found in nine of ten cases five points after it, if this series is the only one
    looked at; None with too few points."""
    doubted: int
    """Changes that did not stand out among those of all series."""
    odd_hosts: dict[str, Interval]
    """Ids of hosts that differ from equal ones at the same commits, as a ratio."""

    @property
    def felt(self) -> tuple[Step, ...]:
        """The changes, and of those of the environment what made a difference for certain."""
        return *self.steps, *(step for step in self.environments if step.change in (Change.BETTER, Change.WORSE))

    @property
    def changed(self) -> bool:
        return bool(self.felt)

    @property
    def alarm(self) -> bool:
        return any(step.is_alarm for step in self.steps)


@dataclass(frozen=True)
class _Stretch:
    """The points of one environment with the change points that stood out."""

    environment: Environment
    points: tuple[Point, ...]
    changes: tuple[ChangePoint, ...]
    doubted: int

    @property
    def values(self) -> list[float]:
        return _values(self.points)

    @property
    def levels(self) -> list[tuple[Point, ...]]:
        edges = [0, *(change.place for change in self.changes), len(self.points)]
        return [self.points[a:b] for a, b in pairwise(edges)]


def analyse(
    series: Sequence[Series], name: str, made_up: bool = False, margin: float | None = None, q: float = Q
) -> tuple[History, ...]:
    """The history of each series; changes count that stand out among all of them (`false_discovery`).

    Numbers that were not measured take part only where `made_up` says so."""
    known = margin_of(name) if margin is None else margin
    splits = [by_environment(_counting(one, made_up)) for one in series]
    accepted = iter(_accepted([_values(points) for split in splits for points in split.values()], q))
    direction = metric(name).direction
    return tuple(
        _history(one, [_stretch(item, next(accepted)) for item in split.items()], known, direction)
        for one, split in zip(series, splits, strict=True)
    )


def _counting(series: Series, made_up: bool) -> Iterable[Point]:
    for point in series.points:
        real = made_up or point.provenance.is_real
        if real and point.status is Status.OK and point.value is not None and abs(point.value) <= _LARGEST:
            yield point


def _values(points: Iterable[Point]) -> list[float]:
    return [point.value for point in points if point.value is not None]


Judged = list[tuple[ChangePoint, bool]]


def _accepted(pieces: list[list[float]], q: float) -> list[Judged]:
    """Each change with whether it stands out. A piece without one counts as a question asked in vain, but not one that
    is too short to be asked."""
    found = [find_changes(values) for values in pieces]
    in_vain = sum(not changes and len(values) >= 2 * SHORTEST for changes, values in zip(found, pieces, strict=True))
    p_values = [change.p_value for changes in found for change in changes]
    stand_out = iter(discoveries([*p_values, *[1.0] * in_vain], q))
    return [[(change, next(stand_out)) for change in changes] for changes in found]


def _stretch(item: tuple[Environment, tuple[Point, ...]], judged: Judged) -> _Stretch:
    changes = tuple(change for change, stands_out in judged if stands_out)
    return _Stretch(*item, changes, len(judged) - len(changes))


def _history(series: Series, stretches: list[_Stretch], margin: float, direction: Direction) -> History:
    points = tuple(sorted((p for s in stretches for p in s.points), key=lambda p: (p.started_at, p.record_id)))
    steps = [step for stretch in stretches for step in _steps(stretch, points, margin, direction)]
    current = next((s for s in stretches if points and s.environment == environment_of(points[-1])), None)
    last = current.levels[-1] if current else ()
    return History(
        series=series,
        points=points,
        level=median_interval(_values(last)) if last else None,
        since=len(last),
        steps=tuple(sorted(steps, key=lambda step: step.after.started_at)),
        environments=_environment_steps(stretches, points, margin, direction),
        smallest=_smallest(current) if current else None,
        doubted=sum(stretch.doubted for stretch in stretches),
        odd_hosts=odd_hosts(_alike(points), margin),
    )


def _steps(stretch: _Stretch, points: tuple[Point, ...], margin: float, direction: Direction) -> list[Step]:
    levels = stretch.levels
    noise = noise_of(stretch.values, stretch.changes) if stretch.changes else None
    steps = []
    for place, change in enumerate(stretch.changes):
        before, after = levels[place], levels[place + 1]
        ratio = ratio_of_levels(_values(before), _values(after), noise)
        verdict = judge(ratio, margin, direction) if ratio else Change.AMBIGUOUS
        gone = verdict is Change.WORSE and any(
            _is_back(before, later, margin, direction) for later in levels[place + 2 :]
        )
        suspicion = _suspicion(before, after, points, margin)
        steps.append(Step(before[-1], after[0], ratio, verdict, change.p_value, (), gone, suspicion))
    return steps


def _is_back(before: Sequence[Point], later: Sequence[Point], margin: float, direction: Direction) -> bool:
    """Whether a later level is no longer worse than the one before the regression, by more than the margin."""
    ratio = ratio_of_levels(_values(before), _values(later))
    if ratio is None:
        return False
    distance = math.log(ratio.value)
    worse = -distance if direction is Direction.MORE else abs(distance) if direction is Direction.NEITHER else distance
    return worse <= math.log1p(margin)


def _suspicion(
    before: Sequence[Point], after: Sequence[Point], points: Sequence[Point], margin: float
) -> Suspicion | None:
    """The same commits on other hosts; without commits, the same time."""
    old, new = {point.commit for point in before}, {point.commit for point in after}
    if None not in old | new and new <= old:
        return Suspicion(Suspect.NOT_COMMIT, ())
    if len({point.host_id for point in points}) < 2:
        return None
    if None in old | new:
        moment = after[0].started_at
        sides = [[p for p in points if (p.started_at < moment) is early] for early in (True, False)]
    else:
        sides = [[p for p in points if p.commit in side] for side in (old - new, new - old)]
    return suspect(_by_place(sides[0]), _by_place(sides[1]), margin)


def _by_place(points: Iterable[Point]) -> ByPlace:
    places: dict[tuple[str, Environment], list[float]] = {}
    for point in points:
        places.setdefault((point.host_id, environment_of(point)), []).extend(_values([point]))
    return places


def _alike(points: Sequence[Point]) -> list[dict[str, list[float]]]:
    """Values by host, for each commit and environment."""
    if len({point.host_id for point in points}) < 2:
        return []
    alike: dict[tuple[str, Environment], dict[str, list[float]]] = {}
    for point in points:
        if point.commit is not None:
            hosts = alike.setdefault((point.commit, environment_of(point)), {})
            hosts.setdefault(point.host_id, []).extend(_values([point]))
    return list(alike.values())


def _environment_steps(
    stretches: list[_Stretch], points: tuple[Point, ...], margin: float, direction: Direction
) -> tuple[Step, ...]:
    """One for each environment after the first, against the one that was in force when it came."""
    steps = []
    for stretch in stretches[1:]:
        first = stretch.points[0]
        previous = points[points.index(first) - 1]
        old = next(s for s in stretches if s.environment == environment_of(previous))
        before = next(level for level in old.levels if previous in level)
        before = before[: before.index(previous) + 1]
        ratio = ratio_of_levels(_values(before), _values(stretch.levels[0]))
        verdict = judge(ratio, margin, direction) if ratio else Change.AMBIGUOUS
        steps.append(Step(previous, first, ratio, verdict, None, differences(previous, first)))
    return tuple(steps)


def _smallest(stretch: _Stretch) -> float | None:
    last = len(stretch.levels[-1])
    if last < FEWEST_FOR_SMALLEST or min(stretch.values) <= 0:
        return None
    size = smallest_detectable(noise_of(stretch.values, stretch.changes), last)
    return math.expm1(size) if size <= WIDEST else None
