"""Which platform and runtime to use for each model, from the records at hand."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from statistics import median

from modeldyno.core.metrics import Direction, metric
from modeldyno.core.options import options_of_work
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


def best_per_model(records: Iterable[Record], name: str, any_precision: bool = False) -> tuple[Best, ...]:
    """The winner of each model, precision and shape; only what was measured on real hardware takes part.

    With `any_precision` that is part of the choice too."""
    grouped: dict[tuple[object, ...], list[Record]] = {}
    for record in records:
        if _takes_part(record, name):
            grouped.setdefault(_same_work(record, any_precision), []).append(record)
    return tuple(_best(work, name, group) for work, group in grouped.items())


def _same_work(record: Record, any_precision: bool) -> tuple[object, ...]:
    """Records that differ in this are not held against each other; platform, runtime and batch are the choice."""
    case = record.case
    weights = record.model.weights if record.model else None
    precision = None if any_precision else case.precision
    return (case.workload, case.model, precision, tuple(sorted(case.shape.items())), options_of_work(case), weights)


def _takes_part(record: Record, name: str) -> bool:
    return is_of_hardware(record) and _has(record, name)


def is_of_hardware(record: Record) -> bool:
    """Whether the hardware that it names gave it: neither made up, nor predicted, nor from an emulator."""
    return record.provenance.is_real and not (record.device and record.device.emulated)


@dataclass(frozen=True)
class Rivals:
    """The best record of each platform for one model at one shape, the very best first."""

    workload: str
    model: str
    shape: tuple[tuple[str, object], ...]
    """Sizes beyond the batch, and the options that say what is done."""
    records: tuple[Record, ...]
    other_shapes: int
    """Shapes that were measured too, on no more platforms."""


def rivals(records: Iterable[Record], name: str) -> tuple[Rivals, ...]:
    """For each workload and model the shape that most platforms have, and there the best of each platform.

    Runtime and precision are the choice, for rates the batch size as well; numbers that no hardware gave stand beside
    those that some did."""
    works: dict[tuple[str, str], dict[tuple[tuple[str, object], ...], dict[object, Record]]] = {}
    better = _order(name)
    for record in sorted(_alike_in_batch(records, name), key=lambda record: record.record_id):
        case = record.case
        shapes = works.setdefault((case.workload, case.model), {})
        places = shapes.setdefault((*sorted(case.shape.items()), *options_of_work(case)), {})
        place = (case.platform, record.provenance.is_real, bool(record.device and record.device.emulated))
        places[place] = min(places.get(place, record), record, key=better)
    return tuple(_rivals(*work, shapes, better) for work, shapes in sorted(works.items()))


def _rivals(
    workload: str,
    model: str,
    shapes: dict[tuple[tuple[str, object], ...], dict[object, Record]],
    better: Callable[[Record], float],
) -> Rivals:
    shape, places = max(shapes.items(), key=lambda item: (len(item[1]), str(item[0])))
    return Rivals(workload, model, shape, tuple(sorted(places.values(), key=better)), len(shapes) - 1)


def _alike_in_batch(records: Iterable[Record], name: str) -> list[Record]:
    """What of less is better is told of a step, and a step of a larger batch does more: of each workload, model and
    shape the batch size that most platforms have, the smallest of several. Rates keep all batch sizes."""
    given = [record for record in records if _has(record, name)]
    if metric(name).direction is Direction.MORE:
        return given
    places: dict[tuple[object, ...], dict[int, set[str]]] = {}
    for record in given:
        places.setdefault(_same_shape(record), {}).setdefault(record.case.batch, set()).add(record.case.platform)
    usual = {work: max(sizes, key=lambda size: (len(sizes[size]), -size)) for work, sizes in places.items()}
    return [record for record in given if usual[_same_shape(record)] == record.case.batch]


def _same_shape(record: Record) -> tuple[object, ...]:
    case = record.case
    return case.workload, case.model, tuple(sorted(case.shape.items())), options_of_work(case)


def _has(record: Record, name: str) -> bool:
    """A time, a rate or a size that is zero or less was not measured."""
    value = record.value(name)
    return record.status is Status.OK and value is not None and math.isfinite(value) and value > 0


def _order(name: str) -> Callable[[Record], float]:
    sign = -1.0 if metric(name).direction is Direction.MORE else 1.0
    return lambda record: sign * (record.value(name) or 0.0)


def _best(work: tuple[object, ...], name: str, group: list[Record]) -> Best:
    winner, *others = sorted(group, key=_order(name))
    ties = tuple(record for record in others if cannot_be_told_apart(winner, record, name))
    return Best(work, name, winner, ties, not all(map(is_trusted, group)))


def is_trusted(record: Record) -> bool:
    """Whether its passport calls the conditions valid."""
    return record.passport is not None and record.passport.verdict is Verdict.VALID


def cannot_be_told_apart(a: Record, b: Record, name: str) -> bool:
    """Whether their intervals overlap, or one has none."""
    first, second = bounds(a, name), bounds(b, name)
    if first is None or second is None:
        return True
    return first[0] <= second[1] and second[0] <= first[1]


def both_have_bounds(a: Record, b: Record, name: str) -> bool:
    """Whether it is known of both how far off they may be; else that they cannot be told apart says nothing of them."""
    return bounds(a, name) is not None and bounds(b, name) is not None


def bounds(record: Record, name: str) -> tuple[float, float] | None:
    """The interval; with too few samples for one, a time or rate as far off as they are from their median."""
    metric = record.metrics[name]
    if metric.low is not None and metric.high is not None:
        return metric.low, metric.high
    samples = [sample for process in record.samples for sample in process.host_ms]
    timed = name.endswith(("_ms", "_per_s"))
    if metric.value is None or not timed or len(samples) < FEWEST_FOR_RANGE or min(samples) <= 0:
        return None
    off = max(max(samples) / median(samples), median(samples) / min(samples))
    return metric.value / off, metric.value * off
