"""GitHub's Markdown, with the charts as SVG files beside it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import count
from urllib.parse import quote

from modeldyno.reports.document import Block, Chart, Code, Document, Finding, Note, Paragraph, Row, Table, Tone
from modeldyno.reports.formats._pictures import ENDINGS, draw, file_names, logo_bytes
from modeldyno.reports.markdown import cell, fenced, label, line, row
from modeldyno.reports.words import NOTHING, REPRODUCE, caption, made_sentence, paragraphs, scope_sentence

_SIGNS = {Tone.PLAIN: "", Tone.GOOD: "✅ ", Tone.DOUBT: "⚠️ ", Tone.BAD: "❌ "}


class Markdown:
    ending = ".md"

    def render(self, document: Document, stem: str) -> Mapping[str, bytes]:
        names = file_names(chart.name for chart in document.charts)
        charts = {chart.name: f"{stem}-charts/{names[chart.name]}.svg" for chart in document.charts}
        logo = f"{stem}-logo{ENDINGS[document.logo.media_type]}" if document.logo else ""
        page = "\n\n".join(filter(None, _Page(charts, logo).parts(document)))
        files = {f"{stem}.md": f"{page}\n".encode()}
        if document.logo:
            files[logo] = logo_bytes(document.logo)
        return files | {charts[chart.name]: draw(chart).svg.encode() for chart in document.charts}


class _Page:
    """The parts of the page, between which a line stays empty; figures and tables are counted."""

    def __init__(self, charts: Mapping[str, str], logo: str) -> None:
        self._charts, self._logo = charts, logo
        self._figures, self._tables = count(1), count(1)

    def parts(self, document: Document) -> Iterator[str]:
        if document.logo:
            yield _picture(self._logo, document.logo.alt)
        yield f"# {line(document.title or document.report)}"
        yield line(made_sentence(document))
        yield line(scope_sentence(document))
        yield from map(line, paragraphs(document.intro or ""))
        yield "## Findings"
        yield "\n".join(f"- {_signed(finding)}" for finding in document.findings) or NOTHING
        for section in document.sections:
            yield f"## {line(section.title)}"
            for block in section.blocks:
                yield from self._block(block)
        if document.reproduce:
            yield f"## {REPRODUCE}"
            yield fenced(document.reproduce)

    def _block(self, block: Block) -> Iterator[str]:
        match block:
            case Paragraph():
                yield from map(line, paragraphs(block.text))
            case Note():
                yield "\n>\n".join(f"> {_SIGNS[block.tone]}{line(text)}" for text in paragraphs(block.text))
            case Code():
                yield fenced(block.lines)
            case Table():
                yield f"**Table {next(self._tables)}.** {line(caption(block))}"
                yield "\n".join(_table(block))
            case Chart():
                yield f"**Figure {next(self._figures)}.** {line(block.title)}"
                yield _picture(self._charts[block.name], block.alt)
                yield from map(line, paragraphs(block.note or ""))


def _picture(path: str, alt: str) -> str:
    return f"![{label(alt)}]({quote(path)})"


def _signed(finding: Finding) -> str:
    return f"{_SIGNS[finding.tone]}{line(finding.text)}"


def _table(table: Table) -> Iterator[str]:
    yield row(cell(column.name) for column in table.columns)
    yield row("---:" if column.numeric else "---" for column in table.columns)
    yield from map(_row, table.head)


def _row(told: Row) -> str:
    """The mark stands in the first cell, where a reader begins."""
    cells = [cell(one.text) for one in told.cells]
    if told.mark and cells:
        cells[0] = f"{cells[0]} *{cell(told.mark)}*".strip()
    return row(cells)


MEMBER = Markdown()
