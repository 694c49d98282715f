"""What stands in tables: numbers with unit and interval, words; rows that no hardware gave are marked."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from modeldyno.core.metrics import METRICS, format_value, significant
from modeldyno.core.types import Case, Record, Status, Verdict
from modeldyno.reports.document import Cell, Column, Row, Table, Tone

MOST_ROWS = 100
"""More rows than that nobody reads; formats for programs have them all."""
MISSING = Cell(text="-")
_SHORT = {"latency_ms": "latency", "throughput_per_s": "throughput", "memory_peak_mb": "peak memory"}
_TONES = {Verdict.VALID: Tone.GOOD, Verdict.AMBIGUOUS: Tone.DOUBT, Verdict.INVALID: Tone.BAD}
_STATUS_TONES = {Status.OK: Tone.GOOD, Status.SKIPPED: Tone.PLAIN, Status.FAILED: Tone.BAD, Status.INVALID: Tone.BAD}


def words(text: str, tone: Tone = Tone.PLAIN) -> Cell:
    return Cell(text=text, tone=tone)


def number(value: float | None, text: str | None = None) -> Cell:
    """A number with the text for people; four significant digits where none is given."""
    if value is None:
        return MISSING
    return Cell(text=text or (str(value) if isinstance(value, int) else significant(value, 4)), value=value)


def measured(record: Record, name: str) -> Cell:
    """A metric of a record; its note where there is no value."""
    metric = record.metrics.get(name)
    if metric is None:
        return MISSING
    if metric.value is None:
        return words(metric.note or "-")
    text = format_value(name, metric.value, metric.low, metric.high)
    return Cell(text=text, value=metric.value, low=metric.low, high=metric.high)


def trust(record: Record) -> Cell:
    """The verdict of the passport."""
    verdict = record.passport.verdict if record.passport else None
    return words(verdict.value, trust_tone(verdict)) if verdict else MISSING


def trust_tone(verdict: Verdict) -> Tone:
    return _TONES[verdict]


def status_tone(status: Status) -> Tone:
    return _STATUS_TONES[status]


def text_column(name: str, key: str | None = None) -> Column:
    return Column(name=name, key=key or name.replace(" ", "_"))


def number_column(name: str, key: str | None = None) -> Column:
    return Column(name=name, key=key or name.replace(" ", "_"), numeric=True)


def metric_column(name: str) -> Column:
    return Column(name=metric_name(name), key=name, numeric=True)


def metric_name(name: str) -> str:
    """A metric as people say it."""
    row = METRICS.get(name)
    bare = name.removesuffix(f"_{row.unit.lower()}") if row and row.unit else name
    return _SHORT.get(name, bare.replace("_", " "))


def metric_title(name: str) -> str:
    """The same with its unit, for an axis."""
    row = METRICS.get(name)
    return f"{metric_name(name)} ({row.unit})" if row and row.unit else metric_name(name)


CASE_COLUMNS = (
    text_column("model"),
    text_column("platform"),
    text_column("runtime"),
    text_column("precision"),
    number_column("batch"),
    text_column("sizes"),
)


def case_cells(case: Case) -> tuple[Cell, ...]:
    """The cells for `CASE_COLUMNS`."""
    plain = (case.model, case.target, case.runtime, case.precision)
    return *map(words, plain), number(case.batch), words(case.sizes or "-")


def candidate(record: Record) -> str:
    """Which way of running a model a record stands for, in one line."""
    case = record.case
    return " ".join([marked(record), case.runtime, case.precision, f"batch {case.batch}"])


def marked(record: Record) -> str:
    """The platform; with a word behind it where it is not that hardware which gave the number."""
    mark = mark_of(record)
    return f"{record.case.platform} ({mark})" if mark else record.case.platform


def mark_of(record: Record) -> str | None:
    """The word for a record whose number no hardware gave, or an emulator did."""
    if not record.provenance.is_real:
        return record.provenance.value
    return "emulated" if record.device and record.device.emulated else None


def record_row(record: Record, *cells: Cell) -> Row:
    return Row(cells=cells, mark=mark_of(record))


def table(name: str, caption: str, columns: Sequence[Column], rows: Iterable[Row], most: int = MOST_ROWS) -> Table:
    """All rows; formats for people print the first of them."""
    return Table(name=name, caption=caption, columns=tuple(columns), rows=tuple(rows), shown=most)
