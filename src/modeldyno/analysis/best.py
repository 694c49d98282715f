"""Which platform and runtime to use for each model, from the records at hand."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modeldyno.core.metrics import Direction, metric
from modeldyno.core.types import Provenance, Record, Status


@dataclass(frozen=True)
class Best:
    """The best record of one model for one metric, and those that cannot be told from it."""

    model: str
    metric: str
    record: Record
    ties: tuple[Record, ...]
    """Others whose 95 % interval overlaps the winner's."""
    baseline_ratio: float | None
    """How many times better than the worst of the compared records."""


def best_per_model(records: Iterable[Record], name: str) -> tuple[Best, ...]:
    """The winner of each model; only what was measured on real hardware takes part."""
    grouped: dict[str, list[Record]] = {}
    for record in records:
        if _takes_part(record, name):
            grouped.setdefault(record.case.model, []).append(record)
    return tuple(_best(model, name, group) for model, group in grouped.items())


def _takes_part(record: Record, name: str) -> bool:
    return (
        record.status is Status.OK
        and record.provenance in (Provenance.MEASURED, Provenance.IMPORTED)
        and not (record.device and record.device.emulated)
        and record.value(name) is not None
    )


def _best(model: str, name: str, group: list[Record]) -> Best:
    sign = -1.0 if metric(name).direction is Direction.MORE else 1.0
    ordered = sorted(group, key=lambda record: sign * (record.value(name) or 0.0))
    winner, worst = ordered[0], ordered[-1]
    top, bottom = winner.value(name) or 0.0, worst.value(name) or 0.0
    ratio = max(top, bottom) / min(top, bottom) if len(group) > 1 and min(top, bottom) > 0 else None
    ties = tuple(record for record in ordered[1:] if _overlap(winner, record, name))
    return Best(model, name, winner, ties, ratio)


def _overlap(a: Record, b: Record, name: str) -> bool:
    first, second = a.metrics[name], b.metrics[name]
    bounds = (first.low, first.high, second.low, second.high)
    if any(bound is None for bound in bounds):
        return False
    return bool(first.low <= second.high and second.low <= first.high)  # type: ignore[operator]
