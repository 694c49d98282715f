"""google/benchmark: `--benchmark_format=json`. A row is the mean time of one iteration in one repetition."""

from __future__ import annotations

import statistics
from collections.abc import Callable
from datetime import datetime
from typing import Any

from modeldyno.core.types import MetricValue, Status
from modeldyno.importers._document import Document, Row
from modeldyno.importers._facts import as_dict, as_text, host, moment, record_function, scaled
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import number_of

_CONTEXT = {"date", "num_cpus", "mhz_per_cpu", "library_build_type", "build_type"}
_MS = {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}
_AGGREGATES = {
    "median": "latency_ms",
    "mean": "latency_mean_ms",
    "stddev": "latency_stddev_ms",
    "min": "latency_min_ms",
    "max": "latency_max_ms",
}


class GoogleBenchmark:
    name = "google-benchmark"
    about = "google/benchmark: --benchmark_out=FILE --benchmark_out_format=json"

    def recognises(self, document: Document) -> bool:
        if not document.keys >= {"context", "benchmarks"} or "machine_info" in document.keys:
            return False
        return bool(_CONTEXT & as_dict(document.data["context"]).keys())

    def read(self, document: Document, sheet: Sheet) -> None:
        context = as_dict(as_dict(document.data).get("context"))
        started_at = _moment(context.get("date"))
        run = sheet.run(
            started_at=started_at,
            host=host(hostname=context.get("host_name"), cores=context.get("num_cpus")),
            name=as_text(context.get("executable")),
            version=as_text(context.get("library_version")),
        )
        for name, rows in _groups(document, sheet).items():
            status, reason = _outcome(rows)
            times = [_time(row) for row in rows if not _aggregate(row)]
            unit = next((row.get("time_unit") for row in rows if _unit(row) is None), None)
            if unit is not None and status is Status.OK:
                sheet.reject(name, f"has the time unit {unit!r}")
                continue
            record_function(
                sheet,
                name,
                name=name,
                places=(context,),
                run=run,
                started_at=started_at,
                status=status,
                reason=reason,
                metrics=_metrics(rows, times) if status is Status.OK else {},
                samples_ms=times if status is Status.OK else (),
            )


def _moment(date: Any) -> datetime | None:
    """Old releases write `2015/03/17-18:40:25`."""
    return moment(date.replace("/", "-") if isinstance(date, str) else None)


def _groups(document: Document, sheet: Sheet) -> dict[str, list[Row]]:
    """The repetitions and aggregates of each benchmark; the fit of a complexity is none of them."""
    groups: dict[str, list[Row]] = {}
    rows = as_dict(document.data).get("benchmarks")
    if not isinstance(rows, list) or not rows:
        sheet.reject("benchmarks", "is no list of results")
        return {}
    for number, row in enumerate(rows):
        name = as_text(as_dict(row).get("run_name")) or as_text(as_dict(row).get("name"))
        if name is None:
            sheet.reject(f"benchmarks[{number}]", "has no name")
        elif "big_o" not in row and "rms" not in row:
            groups.setdefault(name, []).append(row)
    return groups


def _aggregate(row: Row) -> bool:
    return row.get("run_type") == "aggregate"


def _outcome(rows: list[Row]) -> tuple[Status, str | None]:
    for row in rows:
        if row.get("error_occurred"):
            return Status.FAILED, as_text(row.get("error_message")) or "the benchmark reports an error"
        if row.get("skipped"):
            return Status.SKIPPED, as_text(row.get("skip_message")) or "the benchmark was skipped"
    return Status.OK, None


def _unit(row: Row) -> float | None:
    """Milliseconds in the row's unit of time, which the oldest releases do not name."""
    unit = row.get("time_unit", "ns")
    return _MS.get(unit) if isinstance(unit, str) else None


def _time(row: Row, key: str = "real_time") -> Any:
    return scaled(row.get(key), _unit(row) or 1.0)


def _metrics(rows: list[Row], times: list[Any]) -> dict[str, Any]:
    aggregates = {as_text(row.get("aggregate_name")): row for row in rows if _aggregate(row)}
    found = {ours: _time(aggregates[theirs]) for theirs, ours in _AGGREGATES.items() if theirs in aggregates}
    typical = aggregates.get("median") or next((row for row in rows if not _aggregate(row)), {})
    found["cpu_time_ms"] = _time(typical, "cpu_time")
    found["throughput_per_s"] = typical.get("items_per_second")
    if times and "median" not in aggregates:
        found["latency_ms"] = _median(times, typical)
    if times and "mean" not in aggregates:
        found["latency_mean_ms"] = _of_all(times, statistics.fmean)
    return found


def _median(times: list[Any], row: Row) -> Any:
    """Of the repetitions; a single one is itself a mean, and says so."""
    median = _of_all(times, statistics.median)
    if len(times) > 1 or number_of(median) is None or median < 0:
        return median
    return MetricValue(value=median, n=1, note=f"mean of {as_text(row.get('iterations')) or 'all'} iterations")


def _of_all(times: list[Any], statistic: Callable[[list[float]], float]) -> Any:
    """Over numbers only; what is none of them is handed on, so that the sheet rejects it."""
    bad = [time for time in times if number_of(time) is None]
    return (bad[0] if bad[0] is not None else "nothing") if bad else statistic(times)


MEMBER = GoogleBenchmark()
