"""A record as a bar."""

from __future__ import annotations

from modeldyno.core.types import Record
from modeldyno.reports.cells import candidate, mark_of, marked
from modeldyno.reports.charts.bars import Bar
from modeldyno.reports.sections._names import work


def bar_of(record: Record, metric: str) -> Bar:
    """One metric of it; what no hardware gave says so beside the bar, for its colour is that of the platform."""
    value, case, mark = record.metrics[metric], record.case, mark_of(record)
    parts = [case.runtime, case.precision, *([f"batch {case.batch}"] if case.batch > 1 else [])]
    return Bar(
        group=work(case),
        name=candidate(record),
        platform=marked(record),
        value=value.value or 0.0,
        label=" ".join([*parts, *([f"({mark})"] if mark else [])]),
        low=value.low,
        high=value.high,
    )
