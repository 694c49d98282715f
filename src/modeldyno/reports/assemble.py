"""A template and a store make a document."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from typing import TypeVar

from modeldyno import __version__
from modeldyno.reports.document import Chart, Document, Finding, Paragraph, Scope, Section, Table, Tone
from modeldyno.reports.material import MOST_SERIES, Material
from modeldyno.reports.sections import SECTIONS
from modeldyno.reports.template import Part, Template
from modeldyno.store.count import count_records
from modeldyno.store.query import Filter

MOST_FINDINGS = 8
_Named = TypeVar("_Named", Section, Chart, Table)
Watch = Callable[[int, int, str], None]
"""Told before each section: its number, how many there are, its name."""


def assemble(
    template: Template,
    material: Material,
    title: str,
    made_at: datetime,
    commands: tuple[str, ...],
    watch: Watch,
) -> Document:
    """The whole report. Sections that have nothing to say are left out."""
    sections = tuple(_with_own_names(_sections(template, material, watch)))
    return Document(
        report=template.name,
        title=title,
        intro=template.intro,
        made_at=made_at,
        version=__version__,
        scope=scope_of(material),
        findings=_findings(sections, material),
        sections=sections,
        reproduce=commands,
        logo=template.picture(),
    )


def _sections(template: Template, material: Material, watch: Watch) -> Iterator[Section]:
    for number, part in enumerate(template.sections, start=1):
        watch(number, len(template.sections), part.section)
        maker = SECTIONS.get(part.section)
        if section := maker(material.narrowed(part.filters) if part.filters else material, part):
            yield _as_asked(section, part)


def _as_asked(section: Section, part: Part) -> Section:
    before = (Paragraph(text=part.text),) if part.text else ()
    changed = {"title": part.title or section.title, "blocks": (*before, *section.blocks)}
    return section.model_copy(update=changed)


def _with_own_names(sections: Iterator[Section]) -> Iterator[Section]:
    """A section may stand twice in a report, its files and anchors may not."""
    seen: Counter[tuple[type, str]] = Counter()

    def own(named: _Named) -> _Named:
        place = (type(named), named.name)
        seen[place] += 1
        return named if seen[place] == 1 else named.model_copy(update={"name": f"{named.name}-{seen[place]}"})

    for section in sections:
        blocks = tuple(
            own(block) if isinstance(block, Chart) else own(block) if isinstance(block, Table) else block
            for block in section.blocks
        )
        yield own(section).model_copy(update={"blocks": blocks})


def _findings(sections: tuple[Section, ...], material: Material) -> tuple[Finding, ...]:
    """What each section found first before what it found second; nothing is left without a word."""
    if not material.counts:
        return (Finding(text=_nothing(material), tone=Tone.DOUBT),)
    ranked = sorted(
        (place, number, finding)
        for number, section in enumerate(sections)
        for place, finding in enumerate(section.findings)
    )
    return tuple(finding for _, _, finding in ranked[:MOST_FINDINGS])


def _nothing(material: Material) -> str:
    """Why there is nothing, and what to do."""
    if asked := " ".join(f"--{name} {value}" for name, value in material.words.items()):
        return f"No record matches {asked}; ask for less, or see dyno show all."
    everything = count_records(material.store, Filter()) if material.store.path.exists() else ()
    if kinds := sorted({count.provenance.value for count in everything}):
        return f"No record is meant; the store holds {', '.join(kinds)} ones, which --provenance asks for."
    return "The store holds no record yet; start with: dyno run tiny-bert --on cpu"


def scope_of(material: Material) -> Scope:
    """How many records of what a document rests on."""
    counts = material.counts
    provenance: Counter[str] = Counter()
    for count in counts:
        provenance[count.provenance.value] += count.records
    return Scope(
        records=sum(count.records for count in counts),
        series=material.series,
        series_left_out=max(0, material.series - MOST_SERIES),
        since=min((count.first for count in counts), default=None),
        until=max((count.last for count in counts), default=None),
        provenance=dict(sorted(provenance.items())),
        chosen=material.words,
    )
