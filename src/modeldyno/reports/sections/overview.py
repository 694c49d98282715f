"""What was run: how many records of what became what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from modeldyno.analysis.roofline import HARDWARE
from modeldyno.core.types import Provenance, Status
from modeldyno.predict.measure_next import suggest
from modeldyno.predict.stored import cells_of, kept_predictor
from modeldyno.reports.cells import number, number_column, status_tone, table, text_column, words
from modeldyno.reports.document import Cell, Column, Finding, Note, Row, Section, Tone
from modeldyno.reports.material import MOST_SERIES, Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part
from modeldyno.store.count import Count

MOST_PREDICTED = 2_000
"""Records beyond which asking would take longer than the rest of a report."""
_COLUMNS = (
    text_column("platform"),
    text_column("device"),
    text_column("workload"),
    number_column("models"),
    *(number_column(status.value) for status in Status),
    text_column("first"),
    text_column("last"),
)
_PROVENANCE = text_column("provenance")


def overview(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """A row for each platform, device and workload; the provenance has a column only where not all was measured."""
    if not material.counts:
        return None
    told = any(count.provenance is not Provenance.MEASURED for count in material.counts)
    columns: tuple[Column, ...] = (_PROVENANCE, *_COLUMNS) if told else _COLUMNS
    rows = [_row(alike, told) for alike in _alike(material.counts)]
    made = table("what-was-run", "Records by what became of them", columns, rows)
    notes = (Note(text=text) for text in _next(material))
    return Section(name="overview", title="What was run", blocks=(made, *notes), findings=_findings(material))


def _next(material: Material) -> Iterator[str]:
    """The measurement that would narrow predictions most, where they were trained and the store is not too large."""
    if sum(count.records for count in material.counts) > MOST_PREDICTED or not (
        predictor := kept_predictor(material.store)
    ):
        return
    for one in suggest(predictor, cells_of(material.store), budget=1):
        cell = one.cell
        where = f"{cell.device} ({cell.runtime}, {cell.precision})"
        yield f"What to measure next: {cell.model} on {where}: {one.why}. dyno predict next tells more."


def _alike(counts: Iterable[Count]) -> list[list[Count]]:
    places: dict[tuple[str, str, str, str, bool], list[Count]] = {}
    for count in counts:
        place = (count.platform, _device(count), count.workload, count.provenance.value, count.emulated)
        places.setdefault(place, []).append(count)
    return [alike for _, alike in sorted(places.items())]


def _device(count: Count) -> str:
    """Its name; where nothing ran, what was asked for."""
    nameless = "not known" if count.status is Status.OK else f"{count.platform}:{count.index}, as asked"
    return count.device or nameless


def _mark(count: Count) -> str | None:
    """As of the records that are counted."""
    if not count.provenance.is_real:
        return count.provenance.value
    return "emulated" if count.emulated else None


def _row(alike: Sequence[Count], with_provenance: bool) -> Row:
    first = alike[0]
    by_status: Counter[Status] = Counter()
    for count in alike:
        by_status[count.status] += count.records
    return Row(
        cells=(
            *([words(first.provenance.value)] if with_provenance else []),
            words(first.platform),
            words(_device(first)),
            words(first.workload),
            number(len(frozenset().union(*(count.models for count in alike)))),
            *(_count(status, by_status[status]) for status in Status),
            words(f"{min(count.first for count in alike):%Y-%m-%d}"),
            words(f"{max(count.last for count in alike):%Y-%m-%d}"),
        ),
        mark=_mark(first),
    )


def _count(status: Status, found: int) -> Cell:
    return Cell(text=f"{found:,}" if found else "-", value=found, tone=status_tone(status) if found else Tone.PLAIN)


def _findings(material: Material) -> tuple[Finding, ...]:
    counts = material.counts
    by_status: Counter[Status] = Counter()
    for count in counts:
        by_status[count.status] += count.records
    total, good = sum(by_status.values()), by_status[Status.OK]
    models = len(frozenset().union(*(count.models for count in counts if count.workload != HARDWARE)))
    places = sorted({_place(count) for count in counts if count.status is Status.OK})
    rest = ", ".join(f"{by_status[status]:,} {status.value}" for status in Status if by_status[status])
    where = f"on {', '.join(places)}" if places else "and none was ok"
    tone = Tone.BAD if not good else Tone.PLAIN if good == total else Tone.DOUBT
    told = f"{counted(total, 'record')} of {counted(models, 'model')} {where}: {rest}."
    cut = f"The sections look at the newest {MOST_SERIES:,} series; choose fewer to see the others."
    cuts = (Finding(text=cut, tone=Tone.DOUBT),) if len(material.records) >= MOST_SERIES else ()
    return Finding(text=told, tone=tone), *cuts


def _place(count: Count) -> str:
    mark = _mark(count)
    return f"{count.platform} ({mark})" if mark else count.platform


MEMBER = overview
