"""Limits that a test may assert: what the newest results of the same case reached, with a margin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from math import isfinite

from modeldyno.advise.generate.wanted import Subject
from modeldyno.analysis.best import is_of_hardware
from modeldyno.core.metrics import METRICS, Direction, format_value, significant
from modeldyno.core.policy import GATE
from modeldyno.core.types import Case, Device, Provenance, Record, Status, Verdict
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

MARGIN = 0.2
LAST = 5
"""Records of a series whose spread counts, at most."""
_READ = 4 * LAST
"""Records that are looked at for them: those of gates, and those in doubt, are passed over."""
_REAL = tuple(provenance for provenance in Provenance if provenance.is_real)
_METRICS = {
    "inference": ("latency_ms", "memory_peak_mb"),
    "generation": ("first_token_ms", "inter_token_ms", "tokens_per_s"),
    "serving": ("latency_ms", "throughput_per_s"),
    "training": ("latency_ms", "throughput_per_s", "memory_peak_mb"),
    "pool": ("throughput_per_s",),
}
_USUAL = ("latency_ms",)
"""Of other workloads."""


@dataclass(frozen=True)
class Budget:
    """A limit on one metric, and what it rests on."""

    metric: str
    side: str
    """`at most` or `at least`."""
    limit: float
    unit: str
    reached: str
    """What the worst of the records says, with its interval, for people."""
    device: str
    """The name of the device that gave it; on another the limit means nothing."""
    record_id: str
    """The worst of the records."""
    records: int
    """How many the spread was taken of."""
    margin: float = MARGIN
    trusted: bool = True
    """Whether the passports of all of them are valid."""


def budgets_of(subject: Subject, store: Store | None) -> tuple[Budget, ...]:
    """From the device that is here, where the store has results of it; else from the one with the newest."""
    if store is None or not store.path.exists():
        return ()
    found = sorted(store.newest_records(_filter(subject)), key=_moment)
    newest = [one for one in found if _is_same(one, subject.case)]
    if not newest:
        return ()
    first = _of_device_here(newest, subject) or newest[-1]
    last = _last_of_series(store, first)
    names = _METRICS.get(subject.case.workload, _USUAL)
    return tuple(budget for name in names if last and (budget := _budget(name, last)))


def _filter(subject: Subject) -> Filter:
    case = subject.case
    return Filter(
        model=subject.names,
        workload=(case.workload,),
        platform=(case.platform,),
        runtime=(case.runtime,),
        precision=(case.precision,),
        batch=(case.batch,),
        provenance=_REAL,
        status=(Status.OK,),
    )


def _is_same(record: Record, case: Case) -> bool:
    """The model may be stored under another of its names; which slot a device is in does not matter."""
    known = record.device is not None and is_of_hardware(record)
    return known and _identity(record.case) == _identity(case)


def _identity(case: Case) -> dict[str, object]:
    return case.model_dump(mode="json", exclude={"model", "index"})


def _of_device_here(newest: Sequence[Record], subject: Subject) -> Record | None:
    here: tuple[Device, ...] = subject.platform.probe().devices
    prints = {device.fingerprint for device in here if device.index == subject.case.index}
    return next((one for one in reversed(newest) if one.device and one.device.fingerprint in prints), None)


def _last_of_series(store: Store, newest: Record) -> list[Record]:
    """Newest first; those in doubt only where there are no others."""
    chosen = Filter(series_id=(newest.series_id,), provenance=_REAL, status=(Status.OK,))
    gates = {run.run_id for run in store.runs() if run.effort == GATE}
    found = sorted(store.records(chosen, newest=_READ), key=_moment, reverse=True)
    records = [one for one in found if one.run_id not in gates]
    return ([one for one in records if _is_trusted(one)] or records)[:LAST]


def _moment(record: Record) -> tuple[datetime, str]:
    return record.started_at, record.record_id


def _is_trusted(record: Record) -> bool:
    return record.passport is not None and record.passport.verdict is Verdict.VALID


def _budget(name: str, last: Sequence[Record]) -> Budget | None:
    """None where a record has no such number."""
    row, most = METRICS[name], METRICS[name].direction is Direction.LESS
    ends = {record.record_id: end for record in last if (end := _end(record, name, most)) is not None}
    if len(ends) < len(last):
        return None
    worst = (max if most else min)(last, key=lambda record: ends[record.record_id])
    found, device = worst.metrics[name], worst.device
    if found.value is None or device is None:
        return None
    end = ends[worst.record_id]
    return Budget(
        metric=name,
        side="at most" if most else "at least",
        limit=float(significant(end * (1 + MARGIN) if most else end / (1 + MARGIN), 4)),
        unit=row.unit,
        reached=format_value(name, found.value, found.low, found.high),
        device=device.name,
        record_id=worst.record_id,
        records=len(last),
        trusted=all(map(_is_trusted, last)),
    )


def _end(record: Record, name: str, upper: bool) -> float | None:
    """The worse end of the interval, or the number itself."""
    found = record.metrics.get(name)
    if found is None or found.value is None:
        return None
    bound = found.high if upper else found.low
    value = found.value if bound is None else bound
    return value if isfinite(value) and value > 0 else None
