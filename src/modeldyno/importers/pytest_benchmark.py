"""pytest-benchmark: `pytest --benchmark-json`. All times are seconds of one call."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from modeldyno.importers._document import Document, Row
from modeldyno.importers._evidence import flagged
from modeldyno.importers._facts import MS_PER_S, as_dict, as_text, host, moment, record_function, scaled
from modeldyno.importers._sheet import Sheet

_KEYS = {"machine_info", "commit_info", "benchmarks"}
_METRICS = {
    "latency_ms": "median",
    "latency_mean_ms": "mean",
    "latency_min_ms": "min",
    "latency_max_ms": "max",
    "latency_stddev_ms": "stddev",
}
_NO_COMMIT = {"unversioned", "unknown"}


class PytestBenchmark:
    name = "pytest-benchmark"
    about = "pytest-benchmark: pytest --benchmark-json=FILE"

    def recognises(self, document: Document) -> bool:
        return document.keys >= _KEYS

    def read(self, document: Document, sheet: Sheet) -> None:
        data = as_dict(document.data)
        started_at = moment(data.get("datetime"))
        run = _run(sheet, data, started_at)
        cpu = as_text(_cpu(data).get("brand_raw"))
        rows = data.get("benchmarks")
        if not isinstance(rows, list) or not rows:
            sheet.reject("benchmarks", "is no list of results")
            return
        for number, row in enumerate(rows):
            place = f"benchmarks[{number}]"
            name = as_text(as_dict(row).get("fullname")) or as_text(as_dict(row).get("name"))
            stats = as_dict(row).get("stats")
            if name is None or not isinstance(stats, dict):
                sheet.reject(place, "has no name" if name is None else "has no stats")
                continue
            record_function(
                sheet,
                place,
                name=name,
                places=(row.get("extra_info"), row.get("params")),
                cpu=cpu,
                run=run,
                started_at=started_at,
                metrics={ours: scaled(stats.get(theirs), MS_PER_S) for ours, theirs in _METRICS.items()},
                samples_ms=_samples(stats),
                evidence=flagged(row.get("extra_info")),
            )


def _samples(stats: Row) -> list[Any]:
    values = stats.get("data")
    return [scaled(value, MS_PER_S) for value in values] if isinstance(values, list) else []


def _cpu(data: Row) -> Row:
    return as_dict(as_dict(data.get("machine_info")).get("cpu"))


def _run(sheet: Sheet, data: Row, started_at: datetime | None) -> str:
    machine, cpu = as_dict(data.get("machine_info")), _cpu(data)
    commit = as_text(as_dict(data.get("commit_info")).get("id"))
    return sheet.run(
        started_at=started_at,
        host=host(
            hostname=machine.get("node"),
            system=machine.get("system"),
            cpu=cpu.get("brand_raw") or machine.get("processor"),
            cores=cpu.get("count"),
            python=machine.get("python_version"),
        ),
        version=as_text(data.get("version")),
        commit=None if commit in _NO_COMMIT else commit,
    )


MEMBER = PytestBenchmark()
