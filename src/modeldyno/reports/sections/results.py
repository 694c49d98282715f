"""Every case with what became of it: the numbers, or why there are none."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from modeldyno.analysis.scaling import INFERENCE
from modeldyno.core.types import Record, Status
from modeldyno.reports.cells import (
    CASE_COLUMNS,
    case_cells,
    measured,
    metric_column,
    number,
    number_column,
    record_row,
    status_tone,
    table,
    text_column,
    trust,
    words,
)
from modeldyno.reports.document import Finding, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

METRICS = ("latency_ms", "throughput_per_s", "memory_peak_mb")
_WITHOUT = (
    text_column("status"),
    text_column("platform"),
    number_column("cases"),
    text_column("case", "first_case"),
    text_column("reason"),
    text_column("remedy"),
)


def results(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """A row for each record that is ok, and one for each reason why others are not."""
    tables = (*_with_numbers(material.measured), *_without(material.problems))
    if not tables:
        return None
    return Section(name="results", title="All results", blocks=tables, findings=_findings(material))


def _with_numbers(records: Sequence[Record]) -> tuple[Table, ...]:
    """The workload has a column only where there are several kinds."""
    if not records:
        return ()
    told = any(record.case.workload != INFERENCE for record in records)
    columns = (*([text_column("workload")] if told else []), *CASE_COLUMNS, *map(metric_column, METRICS))
    ordered = sorted(records, key=_key)
    rows = [_row(record, told) for record in ordered]
    caption = "The newest record of each case and device that is ok; intervals are 95 %."
    return (table("results", caption, (*columns, text_column("trust")), rows),)


def _key(record: Record) -> tuple[str, str, str, str, str, int, str, str]:
    case = record.case
    plain = (case.model, case.workload, case.target, case.runtime, case.precision)
    return *plain, case.batch, case.sizes, record.record_id


def _row(record: Record, with_workload: bool) -> Row:
    before = [words(record.case.workload)] if with_workload else []
    numbers = (measured(record, name) for name in METRICS)
    return record_row(record, *before, *case_cells(record.case), *numbers, trust(record))


def _without(records: Sequence[Record]) -> tuple[Table, ...]:
    """Cases of one platform that ended for the same reason stand in one row, most of them first."""
    if not records:
        return ()
    grouped: dict[tuple[str, str, str, str, str], list[Record]] = {}
    for record in sorted(records, key=_key):
        words_of_it = (record.status.value, record.case.platform, record.reason or "-", record.remedy or "-")
        grouped.setdefault((*words_of_it, record.provenance.value), []).append(record)
    ordered = sorted(grouped.items(), key=lambda item: (-len(item[1]), item[0]))
    rows = [_problem(group) for _, group in ordered]
    caption = "Cases without numbers, by platform and reason; of several the first is named."
    return (table("results-without", caption, _WITHOUT, rows),)


def _problem(group: Sequence[Record]) -> Row:
    first = group[0]
    more = f" and {len(group) - 1} more" if len(group) > 1 else ""
    return record_row(
        first,
        words(first.status.value, status_tone(first.status)),
        words(first.case.platform),
        number(len(group)),
        words(f"{first.case.label}{more}"),
        words(first.reason or "-"),
        words(first.remedy or "-"),
    )


def _findings(material: Material) -> tuple[Finding, ...]:
    """How many have no numbers, and the reason of most of them."""
    problems = material.problems
    if not problems:
        return ()
    counts = Counter(record.status.value for record in problems)
    told = ", ".join(f"{count} {status}" for status, count in sorted(counts.items()))
    reasons = Counter(record.reason for record in problems if record.reason)
    often = min(reasons.items(), key=lambda item: (-item[1], item[0]), default=None)
    because = f"; most often: {often[0].rstrip('.')}" if often else ""
    have = "has" if len(problems) == 1 else "have"
    text = f"{len(problems)} of {counted(len(material.records), 'case')} {have} no result ({told}){because}."
    bad = any(record.status is not Status.SKIPPED for record in problems) or not material.measured
    return (Finding(text=text, tone=Tone.BAD if bad else Tone.DOUBT),)


MEMBER = results
