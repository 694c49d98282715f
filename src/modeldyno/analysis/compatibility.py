"""Which model works on which platform, from what really happened; and what to use instead where it does not."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from modeldyno.core.elsewhere import TestResult
from modeldyno.core.types import Record, Status

_WORST_LAST = (Status.OK, Status.INVALID, Status.FAILED, Status.SKIPPED)
"""What ran tells more than what broke, and that more than what was not tried."""


@dataclass(frozen=True)
class Try:
    """One outcome of a model on a platform, from a measurement or from a test."""

    outcome_id: str
    run_id: str
    model: str
    platform: str
    runtime: str | None
    """None for a test, which does not say."""
    precision: str | None
    status: Status
    reason: str | None
    remedy: str | None
    moment: datetime
    per_s: float | None
    """Items per second, where measured."""
    met_device: bool
    """False where the device itself was absent: that tells of the host, not of the model."""


@dataclass(frozen=True)
class Way:
    """What decides for one model, platform, runtime and precision."""

    decisive: Try
    partly: tuple[Try, ...]
    """What did not work in the same run while something else did, such as a larger batch."""
    instead: tuple[Try, ...] = ()
    """Where it does not work: what did, the nearest and fastest first."""


@dataclass(frozen=True)
class Cell:
    """One model on one platform: ok if any way is."""

    model: str
    platform: str
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The way that got farthest."""
        return min(self.ways, key=lambda way: _WORST_LAST.index(way.decisive.status))

    @property
    def status(self) -> Status:
        return self.best.decisive.status


@dataclass(frozen=True)
class Matrix:
    """All that was tried."""

    models: tuple[str, ...]
    platforms: tuple[str, ...]
    cells: tuple[Cell, ...]


def tries(records: Iterable[Record], tests: Iterable[TestResult] = ()) -> tuple[Try, ...]:
    """The real outcomes: what is simulated or predicted tells nothing, and an emulator not of its hardware."""
    found = [_of_record(r) for r in records if r.provenance.is_real and not (r.device and r.device.emulated)]
    found += [_of_test(t, t.model, t.platform) for t in tests if t.provenance.is_real and t.model and t.platform]
    return tuple(found)


def _of_record(record: Record) -> Try:
    case, speed = record.case, record.value("throughput_per_s")
    return Try(
        outcome_id=record.record_id,
        run_id=record.run_id,
        model=case.model,
        platform=case.platform,
        runtime=case.runtime,
        precision=case.precision,
        status=record.status,
        reason=record.reason,
        remedy=record.remedy,
        moment=record.started_at,
        per_s=speed if speed is not None and math.isfinite(speed) else None,
        met_device=record.device is not None or record.status is not Status.SKIPPED,
    )


def _of_test(test: TestResult, model: str, platform: str) -> Try:
    return Try(
        outcome_id=test.test_id,
        run_id=test.run_id,
        model=model,
        platform=platform,
        runtime=None,
        precision=None,
        status=test.status,
        reason=test.reason,
        remedy=None,
        moment=test.started_at,
        per_s=None,
        met_device=test.status is not Status.SKIPPED,
    )


def matrix(tried: Iterable[Try]) -> Matrix:
    """Model by platform; the newest run that met the device decides for each runtime and precision."""
    ways: dict[tuple[str, str], dict[tuple[str, str], list[Try]]] = {}
    for one in tried:
        place = ways.setdefault((one.model, one.platform), {})
        place.setdefault((one.runtime or "", one.precision or ""), []).append(one)
    decided = {place: [_way(outcomes) for outcomes in found.values()] for place, found in ways.items()}
    good = [way.decisive for found in decided.values() for way in found if way.decisive.status is Status.OK]
    cells = [
        Cell(model, platform, tuple(_with_advice(way, good) for way in found))
        for (model, platform), found in sorted(decided.items())
    ]
    models, platforms = ({getattr(cell, name) for cell in cells} for name in ("model", "platform"))
    return Matrix(tuple(sorted(models)), tuple(sorted(platforms)), tuple(cells))


def _way(outcomes: Sequence[Try]) -> Way:
    telling = [one for one in outcomes if one.met_device] or outcomes
    newest = max(telling, key=lambda one: (one.moment, one.outcome_id)).run_id
    same_run = sorted((one for one in telling if one.run_id == newest), key=lambda one: _speed(one))
    decisive = min(same_run, key=lambda one: _WORST_LAST.index(one.status))
    other = [one for one in same_run if one.status is not Status.OK]
    return Way(decisive, tuple(other) if decisive.status is Status.OK else ())


def _speed(one: Try) -> float:
    """Fastest first; what has no speed last."""
    return -(one.per_s or 0.0)


def _with_advice(way: Way, good: Sequence[Try]) -> Way:
    """Another way on the same platform before another platform, the same precision before others."""
    bad = way.decisive
    if bad.status is Status.OK:
        return way
    others = [one for one in good if one.model == bad.model]
    near = sorted(others, key=lambda o: (o.platform != bad.platform, o.precision != bad.precision, _speed(o)))
    return Way(bad, way.partly, tuple(near))
