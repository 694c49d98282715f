"""One record: its numbers and raw samples, whether they can be trusted, what bounds them, and how to get them again."""

from __future__ import annotations

import math
import shlex
from collections.abc import Mapping, Sequence
from datetime import UTC
from typing import Any

from modeldyno.analysis.explain import what_helps
from modeldyno.analysis.roofline import HARDWARE, Roofline, find_peaks, hold_against
from modeldyno.analysis.shape import describe_record
from modeldyno.core.metrics import METRICS, format_value
from modeldyno.core.types import Case, Provenance, Record, Status, Weights
from modeldyno.store.find import find_record
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.web import charts
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

KERNELS = 25
_ATTEMPTS = 40
"""Records of the same series that are listed."""


def make(ask: Ask) -> Sheet:
    record_id = ask.places["record_id"]
    found = ask.snapshot.store.records(Filter(record_id=(record_id,)))
    record = found[0] if found else find_record(ask.snapshot.store, record_id) if len(record_id) >= 6 else None
    if record is None:
        raise NotThere(f"There is no record {record_id[:64]}; see /dashboard/explore for all.")
    roofline = _roofline(ask, record)
    timed = [samples.host_ms for samples in record.samples]
    values = [value for process in timed for value in process]
    same = ask.snapshot.results(Filter(series_id=(record.series_id,)), Order(), _ATTEMPTS)
    return Sheet(
        record.case.label,
        {
            "record": record,
            "series_id": record.series_id,
            "metrics": _metrics(record),
            "says": describe_record(record) if record.status is Status.OK and values else (),
            "roofline": roofline,
            "ceilings": _ceilings(roofline) if roofline else [],
            "helps": what_helps(record, roofline) if roofline else (),
            "profile": record.profile[:KERNELS],
            "command": repeat_command(record.case),
            "same": same,
            "_histogram": charts.histogram(values, "ms", "How often a step took how long"),
            "_course": charts.course(timed, "ms", "Step times in the order they were taken"),
            "_line": _history(same, record.record_id),
        },
        [
            {"process": samples.process, "sample": number, "host_ms": value}
            for samples in record.samples
            for number, value in enumerate(samples.host_ms)
        ],
    )


def _metrics(record: Record) -> list[dict[str, Any]]:
    return [
        {
            "name": name,
            "text": "-" if m.value is None else format_value(name, m.value, m.low, m.high),
            "n": m.n,
            "note": m.note,
            "meaning": METRICS[name].meaning if name in METRICS else "",
        }
        for name, m in record.metrics.items()
    ]


def _roofline(ask: Ask, record: Record) -> Roofline | None:
    if record.status is not Status.OK:
        return None
    held = Filter(
        workload=(HARDWARE,),
        platform=(record.case.platform,),
        status=(Status.OK,),
        provenance=(Provenance.MEASURED,),
    )
    peaks = ask.snapshot.store.newest_records(held) if ask.snapshot.count(held) else []
    return hold_against(record, find_peaks(peaks, record))


def _ceilings(roofline: Roofline) -> list[dict[str, Any]]:
    return [
        {
            "name": one.bound.value,
            "achieved": _told(one.metric, one.achieved),
            "peak": _told(one.metric, one.peak.value) if one.peak else "not measured",
            "share": None if one.share is None else f"{one.share:.0%}",
            "remark": one.remark or "",
        }
        for one in roofline.ceilings
    ]


def _told(metric: str, value: float | None) -> str:
    return "-" if value is None else format_value(metric, value)


def repeat_command(case: Case) -> str:
    """The command line that measures this very case."""
    words = ["dyno", "run", case.model, "--on", case.target, "--runtime", case.runtime, "--precision", case.precision]
    words += ["--batch", str(case.batch)]
    words += ["--workload", case.workload] if case.workload != "inference" else []
    words += [word for axis, size in case.shape.items() for word in ("--shape", f"{axis}={size}")]
    words += [word for name, value in case.options.items() for word in ("--option", f"{name}={_plain(value)}")]
    words += ["--weights", case.weights.value] if case.weights is not Weights.AUTO else []
    return shlex.join(words)


def _plain(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)


def _history(rows: Sequence[dict[str, Any]], current: str) -> Any:
    """The records of the series, this one marked; the line goes through real ones, or all where none is."""
    known = [row for row in rows if row["latency_ms"] is not None and math.isfinite(row["latency_ms"])]
    if len(known) < 2:
        return None
    dots = [
        charts.Dot(
            _seconds(row),
            row["latency_ms"],
            f"{row['started_at']:%Y-%m-%d %H:%M}: {format_value('latency_ms', row['latency_ms'])}",
            row["latency_ms_low"],
            row["latency_ms_high"],
            "point here" if row["record_id"] == current else "point" if _is_real(row) else "point made",
            f"/dashboard/records/{row['record_id']}",
        )
        for row in known
    ]
    at = charts.Plane(
        charts.reach(dot.x for dot in dots), charts.reach(dot.y for dot in dots), 190, times=True, y_title="ms"
    )
    line = [row for row in known if _is_real(row)] or known
    joined = sorted((_seconds(row), row["latency_ms"]) for row in line)
    return charts.plane(at, dots, "The same case over time", [joined])


def _is_real(row: Mapping[str, Any]) -> bool:
    return Provenance(row["provenance"]).is_real


def _seconds(row: Mapping[str, Any]) -> float:
    """Moments of the snapshot are in UTC without saying so."""
    return float(row["started_at"].replace(tzinfo=UTC).timestamp())


MEMBER = Page("/dashboard/records/{record_id}", make)
