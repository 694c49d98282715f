"""Which platform and runtime to use for each model, from the records at hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from statistics import median

from modeldyno.core.metrics import Direction, metric
from modeldyno.core.types import Record, Status, Verdict

FEWEST_FOR_RANGE = 3
"""Samples whose range says anything."""


@dataclass(frozen=True)
class Best:
    """The best record for one metric among those that did the same work, and those that cannot be told from it."""

    work: tuple[object, ...]
    """What the records have in common."""
    metric: str
    record: Record
    ties: tuple[Record, ...]
    """Others that cannot be told from it: the 95 % intervals overlap; with too few samples for one, their ranges."""
    doubtful: bool
    """Whether the winner or any rival was measured under conditions that its passport does not call valid."""


def best_per_model(records: Iterable[Record], name: str) -> tuple[Best, ...]:
    """The winner of each model, precision and shape; only what was measured on real hardware takes part."""
    grouped: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        if _takes_part(record, name):
            grouped.setdefault(_same_work(record), []).append(record)
    return tuple(_best(work, name, group) for work, group in grouped.items())


def _same_work(record: Record) -> tuple[object, ...]:
    """Records that differ in this are not held against each other; platform, runtime and batch are the choice."""
    case = record.case
    weights = record.model.weights if record.model else None
    return (case.workload, case.model, case.precision, tuple(sorted(case.shape.items())), weights)


def _takes_part(record: Record, name: str) -> bool:
    return (
        record.status is Status.OK
        and record.provenance.is_real
        and not (record.device and record.device.emulated)
        and record.value(name) is not None
    )


def _best(work: tuple[object, ...], name: str, group: list[Record]) -> Best:
    sign = -1.0 if metric(name).direction is Direction.MORE else 1.0
    winner, *others = sorted(group, key=lambda record: sign * (record.value(name) or 0.0))
    ties = tuple(record for record in others if _cannot_be_told_apart(winner, record, name))
    doubtful = any(record.passport is None or record.passport.verdict is not Verdict.VALID for record in group)
    return Best(work, name, winner, ties, doubtful)


def _cannot_be_told_apart(a: Record, b: Record, name: str) -> bool:
    first, second = _bounds(a, name), _bounds(b, name)
    if first is None or second is None:
        return True
    return first[0] <= second[1] and second[0] <= first[1]


def _bounds(record: Record, name: str) -> tuple[float, float] | None:
    """The interval; with too few samples for one, the value as far off as they are from their median."""
    metric = record.metrics[name]
    if metric.low is not None and metric.high is not None:
        return metric.low, metric.high
    samples = [sample for process in record.samples for sample in process.host_ms]
    if metric.value is None or len(samples) < FEWEST_FOR_RANGE or min(samples) <= 0:
        return None
    off = max(max(samples) / median(samples), median(samples) / min(samples))
    return metric.value / off, metric.value * off
