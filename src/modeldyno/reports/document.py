"""A report as data: sections of paragraphs, tables, charts and notes, which each format renders in its own way.

All texts are plain: a format shows them as they are, whatever they are made of."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Annotated, Any, Literal

from pydantic import Field

from modeldyno.core.types import Frozen


class Tone(StrEnum):
    """What a reader should feel at first sight."""

    PLAIN = "plain"
    GOOD = "good"
    DOUBT = "doubt"
    BAD = "bad"


class Finding(Frozen):
    """One sentence that a reader takes away."""

    text: str
    tone: Tone = Tone.PLAIN


class Paragraph(Frozen):
    kind: Literal["paragraph"] = "paragraph"
    text: str


class Note(Frozen):
    """What has to be said beside: a caveat, what was left out, what to do."""

    kind: Literal["note"] = "note"
    text: str
    tone: Tone = Tone.PLAIN


class Code(Frozen):
    """Commands to be copied, a line each."""

    kind: Literal["code"] = "code"
    lines: tuple[str, ...]


class Column(Frozen):
    name: str
    """As people read it."""
    key: str
    """As programs read it; the name of a metric where it holds one."""
    numeric: bool = False


class Cell(Frozen):
    """What stands in a table: the text for people, and the number behind it for programs."""

    text: str
    value: float | int | str | bool | None = None
    """None: the text says it all."""
    low: float | None = None
    high: float | None = None
    tone: Tone = Tone.PLAIN


class Row(Frozen):
    cells: tuple[Cell, ...]
    mark: str | None = None
    """A word for rows that are not like the others: `simulated`, `predicted`, `emulated`."""


class Table(Frozen):
    kind: Literal["table"] = "table"
    name: str
    """Unlike all others of the document; a file's name in the formats that write one for each."""
    caption: str
    columns: tuple[Column, ...]
    rows: tuple[Row, ...]
    shown: int = 100
    """How many of them the formats for people show; those for programs have them all."""

    @property
    def head(self) -> tuple[Row, ...]:
        """The rows for people."""
        return self.rows[: self.shown]


class Chart(Frozen):
    kind: Literal["chart"] = "chart"
    name: str
    """Unlike all others of the document; a file's name in the formats that write one for each."""
    title: str
    alt: str
    """What the chart shows, for those who cannot see it."""
    spec: dict[str, Any]
    """Vega-Lite, with its data."""
    note: str | None = None
    """How the data were chosen, sampled or put together."""


Block = Annotated[Paragraph | Note | Code | Table | Chart, Field(discriminator="kind")]


class Section(Frozen):
    name: str
    title: str
    blocks: tuple[Block, ...]
    findings: tuple[Finding, ...] = ()
    """What of it belongs on the first page."""


class Scope(Frozen):
    """Which data a report rests on."""

    records: int
    series: int = 0
    """They are points of so many series."""
    series_left_out: int = 0
    """Of these, the oldest, of which the sections look at no record."""
    since: datetime | None
    until: datetime | None
    """When the first and the last of them were taken."""
    provenance: dict[str, int]
    """How many were measured, imported, predicted, simulated."""
    chosen: dict[str, str] = {}
    """What was asked for, by the option's name."""


class Logo(Frozen):
    """A picture that stands at the top."""

    media_type: Literal["image/svg+xml", "image/png", "image/jpeg"]
    base64: str
    alt: str


class Document(Frozen):
    """A whole report."""

    format: Literal["modeldyno-report/1"] = "modeldyno-report/1"
    report: str
    """Its kind, or the name of the template."""
    title: str
    intro: str | None = None
    made_at: datetime
    version: str
    """Of modeldyno."""
    scope: Scope
    findings: tuple[Finding, ...]
    sections: tuple[Section, ...]
    reproduce: tuple[str, ...]
    """The command that makes it again, then those that measured."""
    logo: Logo | None = None

    @property
    def charts(self) -> tuple[Chart, ...]:
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Chart))

    @property
    def tables(self) -> tuple[Table, ...]:
        return tuple(block for section in self.sections for block in section.blocks if isinstance(block, Table))
