"""One series over time: its levels, where they changed, and what changed with them."""

from __future__ import annotations

from typing import Any

from modeldyno.analysis.history import History, Step, analyse
from modeldyno.core.metrics import METRICS, format_value
from modeldyno.core.types import Provenance
from modeldyno.store.points import Point, read_series
from modeldyno.store.query import Filter
from modeldyno.web import charts
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

CHARTED = 400
"""Points of the chart, the newest."""


def make(ask: Ask) -> Sheet:
    series_id, metric = ask.places["series_id"], ask.choice("metric", tuple(METRICS), "latency_ms")
    found = read_series(ask.snapshot.store, Filter(series_id=(series_id,)), metric)
    if not found:
        raise NotThere(f"There is no series {series_id[:64]}; see /dashboard/trends for all.")
    made = sum(not point.provenance.is_real for point in found[0].points)
    made_up = made == len(found[0].points)
    (history,) = analyse(found[:1], metric, made_up)
    seen = [one for one in ask.house.acknowledgements.all() if one.series_id == series_id]
    return Sheet(
        found[0].case.label,
        {
            "series": found[0].case,
            "series_id": series_id,
            "device": found[0].device,
            "metric": metric,
            "metrics": ("latency_ms", "throughput_per_s", "memory_peak_mb", "latency_p95_ms", "first_ms", "load_ms"),
            "points": len(history.points),
            "made_up": made_up,
            "left_out": 0 if made_up else made,
            "level": _level(history, metric),
            "steps": [_step(step, metric) for step in sorted(_all(history), key=lambda step: step.after.started_at)],
            "smallest": history.smallest,
            "seen": seen,
            "_chart": _chart(history, metric),
        },
        [_row(point) for point in history.points],
    )


def _all(history: History) -> list[Step]:
    return [*history.steps, *history.environments]


def _level(history: History, metric: str) -> str | None:
    level = history.level
    return format_value(metric, level.value, level.low, level.high) if level else None


def _step(step: Step, metric: str) -> dict[str, Any]:
    ratio = step.ratio
    return {
        "record_id": step.after.record_id,
        "at": step.after.started_at,
        "commit": step.after.commit,
        "before": step.before.value,
        "ratio": ratio.value if ratio else None,
        "low": ratio.low if ratio else None,
        "high": ratio.high if ratio else None,
        "change": step.change.value,
        "alarm": step.is_alarm,
        "gone": step.gone,
        "environment": list(step.environment),
        "metric": metric,
    }


def _row(point: Point) -> dict[str, Any]:
    return {
        "record_id": point.record_id,
        "started_at": point.started_at.replace(tzinfo=None),
        "value": point.value,
        "low": point.low,
        "high": point.high,
        "commit": point.commit,
        "host": point.host.hostname,
        "driver": point.driver,
    }


def _chart(history: History, metric: str) -> Any:
    points = history.points[-CHARTED:]
    if not points:
        return None
    alarms = {step.after.record_id for step in history.steps if step.is_alarm}
    dots = [
        charts.Dot(
            point.started_at.timestamp(),
            point.value or 0.0,
            f"{point.started_at:%Y-%m-%d %H:%M}: {format_value(metric, point.value or 0.0)}"
            + (f", commit {point.commit[:8]}" if point.commit else ""),
            point.low,
            point.high,
            "point alarm" if point.record_id in alarms else _KINDS[point.provenance],
            f"/dashboard/records/{point.record_id}",
        )
        for point in points
    ]
    marks = [(step.after.started_at.timestamp(), _mark(step), _mark_kind(step)) for step in _all(history)]
    begin = dots[0].x
    at = charts.Plane(
        charts.reach(dot.x for dot in dots),
        charts.reach(end for dot in dots for end in (dot.low or dot.y, dot.high or dot.y)),
        300,
        times=True,
        y_title=METRICS[metric].unit,
    )
    lines = [[(dot.x, dot.y) for dot in dots]]
    return charts.plane(at, dots, f"{metric} over time", lines, [mark for mark in marks if mark[0] >= begin])


_KINDS = {
    Provenance.MEASURED: "point",
    Provenance.IMPORTED: "point imported",
    Provenance.PREDICTED: "point made",
    Provenance.SIMULATED: "point made",
}


def _mark(step: Step) -> str:
    if step.environment:
        return f"new environment: {', '.join(step.environment)}"
    return f"{step.change.value}: {step.ratio.value:.3f} times the level before" if step.ratio else step.change.value


def _mark_kind(step: Step) -> str:
    return "change environment" if step.environment else "change alarm" if step.is_alarm else "change"


MEMBER = Page("/dashboard/trends/{series_id}", make, moody=True)
