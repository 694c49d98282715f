"""Comparisons by platform, runtime, precision, batch size, model or run: which pairs, and the verdict on each."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from modeldyno import platforms
from modeldyno.analysis.comparable import By, obstacles, other_host
from modeldyno.analysis.false_discovery import discoveries
from modeldyno.analysis.ratio import Ratio, ratio_of_records
from modeldyno.analysis.verdict import Change, judge, margin_of, word
from modeldyno.core.errors import UnknownName
from modeldyno.core.metrics import Direction, metric
from modeldyno.core.types import Case, Host, Record, Status

Pair = tuple[Record, Record]
"""The baseline and what is held against it."""
_PER_ITEM = (By.BATCH, By.MODEL)
_OPEN = {
    By.PLATFORM: ("platform", "runtime", "device"),
    By.RUNTIME: ("runtime",),
    By.PRECISION: ("precision",),
    By.BATCH: ("batch",),
    By.MODEL: ("model", "shape"),
    By.RUN: ("device",),
}
"""What records of one group may differ in; of the rest in nothing."""


@dataclass(frozen=True)
class Pairing:
    """Which records are held against each other."""

    pairs: tuple[Pair, ...]
    alone: tuple[Record, ...]
    """Good records without anything to be held against."""


@dataclass(frozen=True)
class Comparison:
    """One metric of two records."""

    metric: str
    old: Record
    """The baseline."""
    new: Record
    ratio: Ratio
    """New over old."""
    change: Change
    margin: float
    """The smallest change that counts."""
    refused: tuple[str, ...] = ()
    """Why there is no verdict: it would be a wrong comparison."""
    labels: tuple[str, ...] = ()
    """What has to be said with the verdict."""

    @property
    def verdict(self) -> str:
        """As people say it: faster, slower, same, ambiguous; or refused."""
        return "refused" if self.refused else word(self.change, self.metric)

    @property
    def gain(self) -> float | None:
        """How many times better: the speed-up of a time or a rate."""
        value, direction = self.ratio.value, metric(self.metric).direction
        if value is None or self.refused or direction is Direction.NEITHER:
            return None
        return value if direction is Direction.MORE else 1 / value


def default_metric(by: By) -> str:
    """The time of a step; but where the steps do different work, what they get done per second."""
    return "throughput_per_s" if by in _PER_ITEM else "latency_ms"


def side(record: Record, by: By) -> str:
    """On which side of the question a record stands: its platform, its batch size, its run."""
    return record.run_id if by is By.RUN else str(getattr(record.case, by.value))


def pair_up(records: Iterable[Record], by: By, name: str, baseline: str | None = None) -> Pairing:
    """Every newest record against the one of the baseline that is most like it.

    The baseline is the one asked for, else the usual one, else the smallest batch or the oldest record's side."""
    newest = _newest(records, by)
    sides = dict.fromkeys(side(record, by) for record in newest)
    if baseline is not None and newest and baseline not in sides:
        raise UnknownName(f"{by.value} for a baseline", baseline, sides)
    groups: dict[tuple[object, ...], list[Record]] = {}
    for record in newest:
        groups.setdefault(_same_work(record, by), []).append(record)
    pairs: list[Pair] = []
    alone: list[Record] = []
    for group in groups.values():
        found = _pairs(group, by, name, baseline)
        pairs += found
        alone += [] if found else group
    return Pairing(tuple(pairs), tuple(alone))


def _newest(records: Iterable[Record], by: By) -> list[Record]:
    """The newest record of each series, device slot and provenance, of each run where that is asked; oldest first."""
    newest: dict[tuple[str, ...], Record] = {}
    for record in sorted(records, key=lambda record: (record.started_at, record.record_id)):
        run = record.run_id if by is By.RUN else ""
        newest[record.series_id, str(record.case.index), record.provenance.value, run] = record
    return sorted(newest.values(), key=lambda record: (record.started_at, record.record_id))


def _same_work(record: Record, by: By) -> tuple[object, ...]:
    case = record.case
    parts = {
        "workload": case.workload,
        "model": case.model.lower(),
        "platform": case.platform,
        "runtime": case.runtime,
        "precision": case.precision,
        "batch": case.batch,
        "shape": tuple(sorted(case.shape.items())),
        "options": tuple(sorted(case.options.items())),
        "device": record.device.fingerprint if record.device else None,
    }
    return tuple(part for name, part in parts.items() if name not in _OPEN[by])


def _pairs(group: Sequence[Record], by: By, name: str, baseline: str | None) -> list[Pair]:
    base = baseline or _usual_baseline(group, by)
    olds = [record for record in group if side(record, by) == base]
    news = [record for record in group if side(record, by) != base]
    return [(_most_like(new, olds, name), new) for new in news] if olds else []


def _usual_baseline(group: Sequence[Record], by: By) -> str:
    if by is By.BATCH:
        return str(min(record.case.batch for record in group))
    sides = [side(record, by) for record in group]
    usual = platforms.baseline() if by is By.PLATFORM else sides[0]
    return usual if usual in sides else sides[0]


def _most_like(new: Record, olds: Sequence[Record], name: str) -> Record:
    """Of several on the baseline's side the one that differs least; among equals the best, so as not to flatter."""
    sign = -1.0 if metric(name).direction is Direction.LESS else 1.0

    def rank(old: Record) -> tuple[int, float]:
        value = old.value(name)
        return _likeness(old, new), -math.inf if value is None else sign * value

    return max(olds, key=rank)


def _likeness(old: Record, new: Record) -> int:
    """In how many respects that are not the question two records agree."""
    return sum(
        (
            old.case.runtime == new.case.runtime,
            old.case.index == new.case.index,
            old.case.shape == new.case.shape,
            old.provenance is new.provenance,
            bool(old.device and new.device and old.device.emulated == new.device.emulated),
            bool(old.device and new.device and old.device.fingerprint == new.device.fingerprint),
            bool(old.model and new.model and old.model.weights == new.model.weights),
        )
    )


def match_runs(olds: Iterable[Record], news: Iterable[Record]) -> Pairing:
    """The records of two runs, case by case; a case that failed both times is not there to be compared."""
    by_case: dict[str, list[Record]] = {}
    for record in olds:
        by_case.setdefault(record.case.key, []).append(record)
    pairs: list[Pair] = []
    alone: list[Record] = []
    for new in news:
        if found := by_case.get(new.case.key):
            pairs.append((max(found, key=lambda old: _likeness(old, new)), new))
        else:
            alone.append(new)
    met = {old.record_id for old, _ in pairs}
    missing = [record for found in by_case.values() for record in found if record.record_id not in met]
    return Pairing(
        tuple(pair for pair in pairs if any(record.status is Status.OK for record in pair)),
        tuple(record for record in (*missing, *alone) if record.status is Status.OK),
    )


def compare(
    pairs: Iterable[Pair],
    by: By,
    names: Sequence[str],
    margins: Mapping[str, float] | None = None,
    hosts: Mapping[str, Host] | None = None,
) -> tuple[Comparison, ...]:
    """The verdicts on these metrics of all pairs, with the share of false ones kept down over all of them together.

    Where the hosts of the runs are given, pairs from different ones say so."""
    asked = margins or {}
    found = [
        _compare(old, new, by, name, asked.get(name, margin_of(name)), hosts or {})
        for old, new in pairs
        for name in names
    ]
    return _without_chance_finds(found)


def _compare(old: Record, new: Record, by: By, name: str, margin: float, hosts: Mapping[str, Host]) -> Comparison:
    between = (*obstacles(old, new, by), *other_host(hosts.get(old.run_id), hosts.get(new.run_id)))
    refused = tuple(obstacle.text for obstacle in between if obstacle.refuses)
    labels = tuple(obstacle.text for obstacle in between if not obstacle.refuses)
    ratio = Ratio(None) if refused else ratio_of_records(old, new, name)
    if by is By.BATCH and metric(name).direction is not Direction.MORE:
        labels = (*labels, f"{name} is that of a whole batch")
    change = judge(ratio.interval, margin, metric(name).direction) if ratio.interval else Change.AMBIGUOUS
    return Comparison(name, old, new, ratio, change, margin, refused, labels + ratio.notes)


def _without_chance_finds(found: Sequence[Comparison]) -> tuple[Comparison, ...]:
    """Among many comparisons some look like a change by chance: those that could be it become ambiguous."""
    tested = [(place, p) for place, one in enumerate(found) if (p := one.ratio.p_value(one.margin)) is not None]
    kept = {place for (place, _), real in zip(tested, discoveries([p for _, p in tested]), strict=True) if real}
    label = f"among {len(tested)} comparisons this may be chance"
    return tuple(
        replace(one, change=Change.AMBIGUOUS, labels=(*one.labels, label))
        if one.change in (Change.BETTER, Change.WORSE) and place not in kept
        else one
        for place, one in enumerate(found)
    )


def verdict_text(one: Comparison) -> str:
    """The verdict with its size: `2.5x faster`."""
    if one.gain is None or one.change not in (Change.BETTER, Change.WORSE):
        return one.verdict
    return f"{max(one.gain, 1 / one.gain):.3g}x {one.verdict}"


def several_devices(pairs: Iterable[Pair]) -> frozenset[str]:
    """Platforms of which more than one kind of device takes part, so that each has to be named."""
    devices = {(record.case.platform, record.device.name) for pair in pairs for record in pair if record.device}
    counted = Counter(platform for platform, _ in devices)
    return frozenset(platform for platform, count in counted.items() if count > 1)


def side_text(record: Record, by: By, named: frozenset[str]) -> str:
    """On which side a record stands, as people say it."""
    if by is By.PLATFORM:
        device = f" ({record.device.name})" if record.device and record.case.platform in named else ""
        return f"{record.case.platform} {record.case.runtime}{device}"
    return f"batch {record.case.batch}" if by is By.BATCH else side(record, by)


def work_text(case: Case, by: By) -> str:
    """What both records have in common."""
    parts = {
        By.MODEL: case.model,
        By.PLATFORM: case.platform,
        By.RUNTIME: case.runtime,
        By.PRECISION: case.precision,
        By.BATCH: f"batch {case.batch}",
    }
    left_out = {by, By.RUNTIME} if by is By.PLATFORM else {by}
    shape = [] if by is By.MODEL else [f"{axis} {size}" for axis, size in case.shape.items()]
    options = [f"{name}={value}" for name, value in case.options.items()]
    workload = [] if case.workload == "inference" else [case.workload]
    return " · ".join([*workload, *(text for part, text in parts.items() if part not in left_out), *shape, *options])
