"""How time and throughput grow with the batch or with an axis of the shape: efficiency, fitted line, knee."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from modeldyno.analysis.ratio import Ratio, ratio_of_records
from modeldyno.core.types import Record, Status

BATCH = "batch"
FEWEST_TO_FIT = 3
FARTHEST_OFF = 0.25
KNEE_GAIN = 0.10
"""Doubling the size pays as long as it adds at least this share of throughput."""
TRAINING, INFERENCE = "training", "inference"
_METRIC = "latency_ms"
_ROUNDS = 20
_LARGEST = math.log(1e6)
_SHORTEST_MS, _LONGEST_MS = 1e-9, 1e12
_HUBER = 1.345
"""Huber's constant: 95 % efficient for normal errors."""


@dataclass(frozen=True)
class Point:
    """One size."""

    size: int
    record: Record
    latency_ms: float
    per_s: float
    """Items per second; over an axis of the shape, its positions per second."""
    efficiency: float
    """Throughput over that of the smallest size, as a share of the growth in size: 1 if the time does not grow."""


@dataclass(frozen=True)
class Line:
    """Latency = overhead + marginal times size."""

    overhead_ms: float
    marginal_ms: float
    r_squared: float
    """Of the relative errors."""
    worst: float
    """Largest relative error."""

    @property
    def describes(self) -> bool:
        """Whether the sizes lie near enough to the line to conclude anything from it."""
        return self.worst <= FARTHEST_OFF

    @property
    def half_performance(self) -> float | None:
        """The size at which half of the throughput limit is reached (Hockney's n-half); None if the line has none."""
        sound = self.describes and self.overhead_ms >= 0 and self.marginal_ms > 0
        return self.overhead_ms / self.marginal_ms if sound else None


@dataclass(frozen=True)
class Knee:
    """Up to which size doubling still pays."""

    size: int
    gain: float | None
    """What the next doubling would add; None where the largest size measured still pays."""


@dataclass(frozen=True)
class Curve:
    """The sizes of one workload, model, device, runtime and precision."""

    over: str
    points: tuple[Point, ...]
    line: Line | None
    no_line: str | None
    """Why there is no fitted line."""
    knee: Knee | None
    """None with a single size."""
    mixed: tuple[str, ...] = ()
    """Versions of software that are not the same at all sizes."""


@dataclass(frozen=True)
class Training:
    """A training step over an inference step of the same case."""

    training: Record
    inference: Record
    ratio: Ratio
    mixed: tuple[str, ...]
    """Versions of software that are not the same in both."""


def curves(records: Iterable[Record], over: str = BATCH, gain: float = KNEE_GAIN) -> tuple[Curve, ...]:
    """One curve per workload, model, device, runtime and precision that has the axis, of the newest record per size."""
    groups: dict[tuple[object, ...], dict[int, Record]] = {}
    for record in _usable(records):
        size = _size(record, over)
        if size is not None:
            groups.setdefault(_apart_from(record, over), {})[size] = record
    return tuple(_curve(over, dict(sorted(group.items())), gain) for group in groups.values())


def training_against_inference(records: Iterable[Record]) -> tuple[Training, ...]:
    """Every case that was measured both ways."""
    groups: dict[tuple[object, ...], dict[str, Record]] = {}
    for record in _usable(records):
        case = record.case
        key = (*_apart_from(record, BATCH)[1:], case.batch)
        groups.setdefault(key, {})[case.workload] = record
    both = [group for group in groups.values() if group.keys() >= {TRAINING, INFERENCE}]
    return tuple(_training(group[TRAINING], group[INFERENCE]) for group in both)


def _training(training: Record, inference: Record) -> Training:
    ratio = ratio_of_records(inference, training, _METRIC)
    return Training(training, inference, ratio, _mixed_software([training, inference]))


def _usable(records: Iterable[Record]) -> list[Record]:
    """Records with a time, oldest first, so that the newest of each size is the one that stays."""
    good = [record for record in records if record.status is Status.OK and _latency(record) > 0]
    return sorted(good, key=lambda record: (record.started_at, record.record_id))


def _latency(record: Record) -> float:
    """0 for what is no time at all."""
    value = record.value(_METRIC) or 0.0
    return value if _SHORTEST_MS < value < _LONGEST_MS else 0.0


def _size(record: Record, over: str) -> int | None:
    size = record.case.batch if over == BATCH else record.case.shape.get(over)
    return size if size and size > 0 else None


def _apart_from(record: Record, over: str) -> tuple[object, ...]:
    """All that a record is but for its size; the workload comes first."""
    case = record.case
    shape = tuple(sorted((axis, size) for axis, size in case.shape.items() if axis != over))
    batch = None if over == BATCH else case.batch
    # A device that is not known is only that of its own run.
    device = record.device.fingerprint if record.device else record.run_id
    options = tuple(sorted(case.options.items()))
    place = (case.platform, device, case.index, case.runtime, case.precision)
    return (case.workload, case.model.lower(), *place, batch, shape, options, record.provenance)


def _curve(over: str, group: dict[int, Record], gain: float) -> Curve:
    first = next(iter(group.values()))
    points = tuple(
        Point(size, record, _latency(record), _rate(record, over, size), _latency(first) / _latency(record))
        for size, record in group.items()
    )
    mixed = _mixed_software(list(group.values()))
    if len(points) < FEWEST_TO_FIT:
        reason = f"a line needs {FEWEST_TO_FIT} sizes, there {'is' if len(points) == 1 else 'are'} {len(points)}"
        return Curve(over, points, None, reason, knee(points, gain), mixed)
    line = fit([p.size for p in points], [p.latency_ms for p in points])
    return Curve(over, points, line, None, knee(points, gain), mixed)


def _mixed_software(records: Sequence[Record]) -> tuple[str, ...]:
    versions: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.software.items():
            versions.setdefault(name, set()).add(version)
    return tuple(f"{name} {', '.join(sorted(found))}" for name, found in sorted(versions.items()) if len(found) > 1)


def _rate(record: Record, over: str, size: int) -> float:
    return record.case.batch * (1 if over == BATCH else size) * 1e3 / _latency(record)


def fit(sizes: Sequence[float], latencies: Sequence[float]) -> Line:
    """Least squares on the relative errors, reweighted after Huber (Annals of Mathematical Statistics 35, 1964) so that
    one odd size does not bend the line."""
    x, y = np.asarray(sizes, dtype=float), np.asarray(latencies, dtype=float)
    design = np.column_stack([np.ones_like(x), x]) / y[:, None]
    weights = np.ones_like(y)
    for _ in range(_ROUNDS):
        root = np.sqrt(weights)
        solution = np.linalg.lstsq(design * root[:, None], root, rcond=None)[0]
        errors = design @ solution - 1
        scale = 1.4826 * float(np.median(np.abs(errors)))
        weights = np.minimum(1.0, _HUBER * scale / np.maximum(np.abs(errors), 1e-12)) if scale > 1e-9 else weights
    flat = float((1 / y).sum() / (1 / y**2).sum())  # the best that a time that does not grow can do
    without = float(((flat / y - 1) ** 2).sum())
    left = float((errors**2).sum())
    r_squared = max(0.0, 1 - left / without) if without > 0 else 1.0
    return Line(float(solution[0]), float(solution[1]), r_squared, float(np.abs(errors).max()))


def knee(points: Sequence[Point], gain: float = KNEE_GAIN) -> Knee | None:
    if len(points) < 2:
        return None
    rates = {point.size: point.per_s for point in points}
    size = knee_of(rates, gain)
    following = next((larger for larger in rates if larger > size), None)
    return Knee(size, _added(rates, size, following) if following else None)


def knee_of(rates: Mapping[int, float], gain: float = KNEE_GAIN) -> int:
    """The largest size that added at least `gain` of throughput for each doubling since the best smaller size.

    Held against the best so far, and not against its neighbour, one odd size does not end the search."""
    best, *larger = sorted(rates)
    for size in larger:
        if _added(rates, best, size) >= gain:
            best = size
    return best


def _added(rates: Mapping[int, float], small: int, large: int) -> float:
    """Share of throughput per doubling of the size."""
    per_doubling = math.log(rates[large] / rates[small]) / math.log2(large / small)
    return math.expm1(min(per_doubling, _LARGEST))  # two sizes side by side say little of a doubling
