"""Which records of a model answer a question: those that did the same work; and which ways failed."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from modeldyno.advise.candidates import Way, way_of
from modeldyno.analysis.best import is_of_hardware
from modeldyno.core.options import options_of_work
from modeldyno.core.types import Record, Status

_Key = tuple[tuple[tuple[str, int], ...], tuple[tuple[str, object], ...]]


@dataclass(frozen=True)
class Work:
    """What is done in every candidate alike."""

    workload: str
    shape: Mapping[str, int] = field(hash=False)
    options: Mapping[str, object] = field(default_factory=dict, hash=False)
    batches: tuple[int, ...] = ()
    """That were measured."""
    other_shapes: int = 0
    emulated: int = 0
    """Results that only an emulator gave."""


def chosen_work(
    records: Iterable[Record], workload: str, asked: Mapping[str, int], axes: Mapping[str, int]
) -> tuple[Work, list[Record]]:
    """The input size that most devices have of those asked for, and its records of real hardware."""
    done = [one for one in records if one.case.workload == workload and one.status is Status.OK]
    groups: dict[_Key, list[Record]] = {}
    for record in filter(is_of_hardware, done):
        if all(record.case.shape.get(axis) == size for axis, size in asked.items()):
            groups.setdefault(_key(record), []).append(record)
    emulated = sum(bool(one.device and one.device.emulated) for one in done)
    if not groups:
        return Work(workload, {**axes, **asked}, emulated=emulated), []
    key, found = max(groups.items(), key=lambda item: (len(_places(item[1])), len(item[1]), str(item[0])))
    batches = tuple(sorted({record.case.batch for record in found}))
    return Work(workload, dict(key[0]), dict(key[1]), batches, len(groups) - 1, emulated), found


def _key(record: Record) -> _Key:
    return tuple(sorted(record.case.shape.items())), options_of_work(record.case)


def _key_of(work: Work) -> _Key:
    return tuple(sorted(work.shape.items())), tuple(sorted(work.options.items()))


def _places(records: Sequence[Record]) -> set[tuple[str, str | None]]:
    return {(record.case.platform, record.device.name if record.device else None) for record in records}


def failures(records: Iterable[Record], work: Work) -> dict[Way, str]:
    """Ways whose newest attempt at this work failed or gave no valid result, with the reason."""
    newest: dict[Way, Record] = {}
    for record in sorted(records, key=lambda record: record.started_at):
        same = record.case.workload == work.workload and _key(record) == _key_of(work)
        if same and record.status is not Status.SKIPPED and is_of_hardware(record):
            newest[way_of(record)] = record
    bad = {way: one for way, one in newest.items() if one.status in (Status.FAILED, Status.INVALID)}
    return {way: one.reason or f"{one.status.value}, no reason is known" for way, one in bad.items()}
