"""What the raw samples look like: their spread, drift, groups and outliers."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from modeldyno.analysis.shape import SPREAD_STRONG, describe_record
from modeldyno.core.metrics import format_value
from modeldyno.core.types import Record
from modeldyno.reports.cells import (
    CASE_COLUMNS,
    candidate,
    case_cells,
    mark_of,
    marked,
    number,
    number_column,
    record_row,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.boxes import MOST_POINTS, Box, box_chart, box_of
from modeldyno.reports.document import Finding, Note, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.sections._names import workload
from modeldyno.reports.template import Part

MOST_BOXES = 24
_COLUMNS = (
    *CASE_COLUMNS,
    number_column("samples"),
    number_column("median", "median_ms"),
    number_column("middle half", "spread"),
    text_column("what the samples tell"),
)


@dataclass(frozen=True)
class Sampled:
    """A record whose samples are there."""

    record: Record
    box: Box
    told: tuple[str, ...]
    """What the analysis has to say of them."""


def distribution(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """Boxes of the records that spread most, and what is odd about any."""
    found = sorted(_sampled(material.measured), key=lambda one: (-one.box.spread, one.record.record_id))
    if not found:
        return None
    shown = sorted(found[:MOST_BOXES], key=lambda one: (one.box.model, one.box.median, one.record.record_id))
    chart = box_chart("samples", "Raw samples", [one.box for one in shown], _note(found, shown))
    return Section(
        name="distribution",
        title="Distribution of the samples",
        blocks=(chart, _told(found)),
        findings=_findings(found),
    )


def _sampled(records: Sequence[Record]) -> Iterator[Sampled]:
    for record in records:
        case = record.case
        name = " ".join([*workload(case), candidate(record), case.sizes]).rstrip()
        samples = (value for process in record.samples for value in process.host_ms)
        if box := box_of(case.model, name, marked(record), samples):
            yield Sampled(record, box, describe_record(record))


def _note(found: Sequence[Sampled], shown: Sequence[Sampled]) -> str:
    said = [
        "Each box holds the middle half of a record's samples, the line in it is the median; whiskers reach to the "
        "last sample within 1.5 times the box, points lie beyond. Nothing was taken away."
    ]
    if len(shown) < len(found):
        said.append(f"The {len(shown)} of {len(found)} records whose samples spread most, as a share of the median.")
    if any(len(one.record.samples) > 1 for one in shown):
        said.append("Samples of several processes stand in one box.")
    if any(len(one.box.beyond) > MOST_POINTS for one in shown):
        said.append(f"At most {MOST_POINTS} points of each box, spread evenly from the smallest to the largest.")
    return " ".join(said)


def _told(found: Sequence[Sampled]) -> Table | Note:
    odd = [one for one in found if one.told]
    if not odd:
        return Note(text=_all_well(found))
    caption = f"{len(odd)} of {counted(len(found), 'record')} whose samples drift, fall into groups or spread widely"
    return table("samples-told", caption, _COLUMNS, map(_row, odd))


def _all_well(found: Sequence[Sampled]) -> str:
    return f"The samples of {counted(len(found), 'record')} show no drift, no groups and no far outliers."


def _row(one: Sampled) -> Row:
    box = one.box
    median = number(box.median, format_value("latency_ms", box.median))
    numbers = (number(box.n), median, number(box.spread, f"{box.spread:.1%}"))
    return record_row(one.record, *case_cells(one.record.case), *numbers, words(" ".join(one.told), Tone.DOUBT))


def _findings(found: Sequence[Sampled]) -> tuple[Finding, ...]:
    """How many are odd, and the one that spreads most; of what hardware gave."""
    real = [one for one in found if mark_of(one.record) is None]
    odd = [one for one in real if one.told]
    if not real:
        return ()
    if not odd:
        return (Finding(text=_all_well(real), tone=Tone.GOOD),)
    text = (
        f"The samples of {len(odd)} of {counted(len(real), 'record')} drift, fall into groups, spread widely or hold "
        "outliers."
    )
    return (Finding(text=text, tone=Tone.DOUBT), *_widest(real[0]))


def _widest(one: Sampled) -> tuple[Finding, ...]:
    if one.box.spread <= SPREAD_STRONG:
        return ()
    text = (
        f"{one.box.model} on {one.box.name} is very noisy: the middle half of its {one.box.n} samples spans "
        f"{one.box.spread:.0%} of the median {format_value('latency_ms', one.box.median)}."
    )
    return (Finding(text=text, tone=Tone.BAD),)


MEMBER = distribution
