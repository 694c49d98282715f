"""A PDF set by typst: the document goes into a JSON file beside the template, so no text is ever taken for markup."""

from __future__ import annotations

import json
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.resources import files
from pathlib import Path
from typing import Any

from modeldyno.core.errors import JobError
from modeldyno.reports.document import Block, Chart, Code, Document, Note, Paragraph, Row, Section, Table
from modeldyno.reports.formats._pictures import ENDINGS, draw, logo_bytes
from modeldyno.reports.markdown import LONGEST, code_lines, one_line
from modeldyno.reports.words import NOTHING, caption, made_sentence, paragraphs, scope_sentence

MOST_UPRIGHT = 8
"""Columns of a table that fit on an upright page whatever they hold."""
_LETTERS_UPRIGHT = 110
"""Of one row that fit on one line there; twice as many on two."""
_FEW_ROWS = 15
"""For which a reader would rather not turn the page."""
_LETTERS_OF_COLUMN = 30
"""Longer cells have several lines."""
MOST_WITHOUT_CONTENTS = 3
_RUNNING = 90
"""Letters of the title at the foot of each page."""
_SOURCE, _DATA = "report.typ", "document.json"


class Pdf:
    ending = ".pdf"

    def render(self, document: Document, stem: str) -> Mapping[str, bytes]:
        with tempfile.TemporaryDirectory(prefix="modeldyno-") as scratch:
            folder = Path(scratch)
            for name, content in _folder(document).items():
                (folder / name).write_bytes(content)
            return {f"{stem}.pdf": _typeset(folder)}


def _typeset(folder: Path) -> bytes:
    """With the fonts that typst brings, and no packages: nothing depends on this machine or a network."""
    import typst

    try:
        made = typst.compile(
            folder / _SOURCE, root=folder, ignore_system_fonts=True, package_path=folder, package_cache_path=folder
        )
    except typst.TypstError as error:
        raise JobError(f"typst cannot set the report ({error.message}); use --format html instead.") from error
    assert isinstance(made, bytes)
    return made


def _folder(document: Document) -> dict[str, bytes]:
    """What typst reads."""
    told = _Folder()
    data = json.dumps(told.whole(document), sort_keys=True).encode()
    return {_SOURCE: (files(__package__) / _SOURCE).read_bytes(), _DATA: data, **told.pictures}


@dataclass
class _Folder:
    """The document as plain data for the template, and the pictures that it names."""

    pictures: dict[str, bytes] = field(default_factory=dict)

    def whole(self, document: Document) -> dict[str, Any]:
        title = _plain(document.title) or document.report
        return {
            "title": title,
            "running": one_line(title, _RUNNING),
            "made": _plain(made_sentence(document)),
            "scope": _plain(scope_sentence(document)),
            "intro": _plains(document.intro),
            "findings": [{"tone": one.tone, "text": _plain(one.text)} for one in document.findings],
            "nothing": NOTHING,
            "contents": len(document.sections) > MOST_WITHOUT_CONTENTS,
            "leaves": [leaf for section in document.sections for leaf in self._leaves(section)],
            "reproduce": code_lines(document.reproduce),
            "logo": self._logo(document),
        }

    def _logo(self, document: Document) -> dict[str, str] | None:
        if not (logo := document.logo):
            return None
        name = f"logo{ENDINGS[logo.media_type]}"
        self.pictures[name] = logo_bytes(logo)
        return {"picture": name, "alt": _plain(logo.alt)}

    def _leaves(self, section: Section) -> Iterator[dict[str, Any]]:
        for number, (wide, blocks) in enumerate(_turned(section.blocks)):
            title = None if number else _plain(section.title)
            yield {"title": title, "wide": wide, "blocks": [self._block(block) for block in blocks]}

    def _block(self, block: Block) -> dict[str, Any]:
        match block:
            case Paragraph():
                return {"kind": block.kind, "texts": _plains(block.text)}
            case Note():
                return {"kind": block.kind, "texts": _plains(block.text), "tone": block.tone}
            case Code():
                return {"kind": block.kind, "lines": code_lines(block.lines)}
            case Table():
                return _table(block)
            case Chart():
                return self._chart(block)

    def _chart(self, chart: Chart) -> dict[str, Any]:
        drawing = draw(chart)
        name = f"chart-{len(self.pictures)}.pdf"
        self.pictures[name] = drawing.pdf
        told = {"title": _plain(chart.title), "alt": _plain(chart.alt), "note": _plains(chart.note)}
        return {"kind": chart.kind, "picture": name, "width": drawing.width, "height": drawing.height, **told}


def _turned(blocks: Sequence[Block]) -> list[tuple[bool, list[Block]]]:
    """The blocks by the page that they lie on: a wide table on one that is turned, with the words before and after."""
    leaves: list[tuple[bool, list[Block]]] = [(False, [])]
    for block in blocks:
        turned, held = leaves[-1]
        if isinstance(block, Table) and _is_wide(block) and not turned:
            words = len(held)
            while words and not isinstance(held[words - 1], Table | Chart):
                words -= 1
            leaves.append((True, [*held[words:], block]))
            del held[words:]
        elif isinstance(block, Chart) and turned:
            leaves.append((False, [block]))
        else:
            held.append(block)
    return [leaf for leaf in leaves if leaf[1]] or leaves


def _is_wide(table: Table) -> bool:
    columns = len(table.columns)
    if columns <= MOST_UPRIGHT:
        return False
    lines = [[column.name for column in table.columns], *([cell.text for cell in row.cells] for row in table.head)]
    longest = (max(len(line[place]) for line in lines) for place in range(columns))
    letters = sum(min(letters, _LETTERS_OF_COLUMN) for letters in longest)
    return letters > _LETTERS_UPRIGHT * (1 if len(table.head) > _FEW_ROWS else 2)


def _table(table: Table) -> dict[str, Any]:
    columns = [{"name": _plain(column.name), "numeric": column.numeric} for column in table.columns]
    rows = [_row(row) for row in table.head]
    return {"kind": table.kind, "caption": _plain(caption(table)), "columns": columns, "rows": rows}


def _row(row: Row) -> dict[str, Any]:
    cells = [{"text": one_line(cell.text), "tone": cell.tone} for cell in row.cells]
    return {"cells": cells, "mark": one_line(row.mark) if row.mark else None}


def _plain(text: str) -> str:
    return one_line(text, LONGEST)


def _plains(text: str | None) -> list[str]:
    return [_plain(part) for part in paragraphs(text or "")]


MEMBER = Pdf()
