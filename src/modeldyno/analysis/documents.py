"""What the analysis found as JSON documents, the same for commands and the API; moments stay moments until written."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from modeldyno.analysis.comparable import By
from modeldyno.analysis.compare import Comparison, Pairing
from modeldyno.analysis.compatibility import Cell, Matrix, Way
from modeldyno.analysis.history import History, Step
from modeldyno.core.types import Record
from modeldyno.measure.statistics import Interval
from modeldyno.store.outcomes import Try
from modeldyno.store.points import Point

Document = dict[str, Any]


def comparisons(found: Sequence[Comparison], pairing: Pairing, by: By) -> Document:
    """With the records that have nothing to be held against."""
    return {
        "by": by.value,
        "comparisons": [_comparison(one) for one in found],
        "alone": [_record(record) for record in pairing.alone],
    }


def _comparison(one: Comparison) -> Document:
    bounds = one.ratio.interval
    return {
        "metric": one.metric,
        "baseline": _record(one.old) | {"value": _value(one.old, one.metric)},
        "compared": _record(one.new) | {"value": _value(one.new, one.metric)},
        "ratio": one.ratio.value,
        "low": bounds.low if bounds else None,
        "high": bounds.high if bounds else None,
        "times_better": one.gain,
        "p_value": one.ratio.p_value(one.margin),
        "margin": one.margin,
        "verdict": one.verdict,
        "labels": list(one.labels),
        "refused": list(one.refused),
    }


def _record(record: Record) -> Document:
    return {
        "record_id": record.record_id,
        "run_id": record.run_id,
        "case": record.case.model_dump(mode="json"),
        "device": record.device.name if record.device else None,
        "provenance": record.provenance.value,
        "status": record.status.value,
    }


def _value(record: Record, metric: str) -> float | None:
    value = record.value(metric)
    return value if value is not None and math.isfinite(value) else None


def compatibility(made: Matrix) -> Document:
    cells = [_cell(cell) for cell in made.cells]
    return {"models": list(made.models), "platforms": list(made.platforms), "cells": cells}


def _cell(cell: Cell) -> Document:
    return {
        "model": cell.model,
        "platform": cell.platform,
        "status": cell.status.value,
        "reason": cell.best.decisive.reason,
        "remedy": cell.best.decisive.remedy,
        "instead": [_try(one) for one in cell.best.instead],
        "ways": [_way(way) for way in cell.ways],
    }


def _way(way: Way) -> Document:
    others = {"partly": [_try(one) for one in way.partly], "instead": [_try(one) for one in way.instead]}
    return _try(way.decisive) | others


def _try(one: Try) -> Document:
    return {
        "outcome_id": one.outcome_id,
        "platform": one.platform,
        "workload": one.workload,
        "runtime": one.runtime,
        "precision": one.precision,
        "batch": one.batch,
        "shape": one.shape,
        "status": one.status.value,
        "reason": one.reason,
        "remedy": one.remedy,
        "started_at": one.moment,
        "throughput_per_s": one.per_s,
    }


def history(one: History) -> Document:
    """One series: its level since the last change, and its changes with the verdict on each."""
    return {
        "series_id": one.series.series_id,
        "case": one.series.case.model_dump(mode="json"),
        "device": one.series.device,
        "provenance": sorted({point.provenance.value for point in one.points}),
        "points": len(one.points),
        "left_out": len(one.series.points) - len(one.points),
        "level": _interval(one.level),
        "points_since": one.since,
        "alarm": one.alarm,
        "changes": [_step(step) for step in one.steps],
        "environment_changes": [_step(step) for step in one.environments],
        "smallest_change": one.smallest,
        "doubted": one.doubted,
        "odd_hosts": {host: _interval(ratio) for host, ratio in one.odd_hosts.items()},
    }


def _step(step: Step) -> Document:
    suspicion = step.suspicion
    return {
        "started_at": step.after.started_at,
        "before": _side(step.before),
        "after": _side(step.after),
        "ratio": _interval(step.ratio),
        "verdict": step.change.value,
        "p_value": step.p_value,
        "environment": list(step.environment),
        "gone": step.gone,
        "alarm": step.is_alarm,
        "suspect": {"what": suspicion.what.value, "hosts": list(suspicion.hosts)} if suspicion else None,
    }


def _side(point: Point) -> Document:
    return {
        "run_id": point.run_id,
        "record_id": point.record_id,
        "commit": point.commit,
        "host": point.host.hostname or point.host_id,
        "host_id": point.host_id,
    }


def _interval(interval: Interval | None) -> Document | None:
    return None if interval is None else {"value": interval.value, "low": interval.low, "high": interval.high}
