"""Which platform and runtime to use for each model, from the records at hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modeldyno.core.metrics import Direction, metric
from modeldyno.core.types import Provenance, Record, Status


@dataclass(frozen=True)
class Best:
    """The best record for one metric among those that did the same work, and those that cannot be told from it."""

    work: tuple[object, ...]
    """What the records have in common."""
    metric: str
    record: Record
    ties: tuple[Record, ...]
    """Others whose 95 % interval overlaps the winner's."""


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
        and record.provenance in (Provenance.MEASURED, Provenance.IMPORTED)
        and not (record.device and record.device.emulated)
        and record.value(name) is not None
    )


def _best(work: tuple[object, ...], name: str, group: list[Record]) -> Best:
    sign = -1.0 if metric(name).direction is Direction.MORE else 1.0
    winner, *others = sorted(group, key=lambda record: sign * (record.value(name) or 0.0))
    return Best(work, name, winner, tuple(record for record in others if _overlap(winner, record, name)))


def _overlap(a: Record, b: Record, name: str) -> bool:
    first, second = a.metrics[name], b.metrics[name]
    bounds = (first.low, first.high, second.low, second.high)
    if any(bound is None for bound in bounds):
        return False
    return bool(first.low <= second.high and second.low <= first.high)  # type: ignore[operator]
