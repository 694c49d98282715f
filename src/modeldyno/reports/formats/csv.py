"""A zip with one CSV file for each table, for spreadsheets and programs."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Iterable, Iterator, Mapping

from modeldyno.reports.document import Cell, Document, Row, Table
from modeldyno.reports.formats._pictures import file_names
from modeldyno.reports.markdown import one_line
from modeldyno.reports.words import REPRODUCE, made_sentence, scope_sentence

_NOTHING = "-"
"""How a table for people says that there is nothing."""
_FINDINGS = "findings"
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip can tell; the same for all, so that the same document gives the same bytes."""

_ABOUT = (
    "A column whose name is that of a metric holds numbers in its unit; NAME_low and NAME_high are the ends of the",
    "interval. The column mark says which rows no hardware gave. An empty field: there is nothing. A text that a",
    "spreadsheet would take for a formula begins with an apostrophe.",
)


class Csv:
    ending = ".zip"

    def render(self, document: Document, stem: str) -> Mapping[str, bytes]:
        names = file_names((table.name for table in document.tables), taken=[_FINDINGS])
        files = {"README.txt": "\n".join(_readme(document, names)) + "\n"}
        files[f"{_FINDINGS}.csv"] = _csv(_findings(document))
        files |= {f"{names[table.name]}.csv": _csv(_rows(table)) for table in document.tables}
        return {f"{stem}.zip": _zipped(files)}


def _readme(document: Document, names: Mapping[str, str]) -> Iterator[str]:
    yield from (one_line(document.title), "", made_sentence(document), one_line(scope_sentence(document), 2000), "")
    yield f"{_FINDINGS}.csv: what the report found, in sentences"
    for table in document.tables:
        yield f"{names[table.name]}.csv: {one_line(table.caption, 2000)}"
    yield from ("", *_ABOUT)
    yield from ("", f"{REPRODUCE}:", *(f"  {one_line(command, 2000)}" for command in document.reproduce))


def _findings(document: Document) -> Iterator[list[str]]:
    yield ["tone", "text"]
    for finding in document.findings:
        yield [finding.tone.value, _defused(finding.text)]


def _rows(table: Table) -> Iterator[list[str]]:
    ranged = [any(_has_range(row.cells[place]) for row in table.rows) for place in range(len(table.columns))]
    marked = any(row.mark for row in table.rows)
    head = [_headings(column.key, wide) for column, wide in zip(table.columns, ranged, strict=True)]
    yield [_defused(name) for names in head for name in names] + ["mark"] * marked
    for row in table.rows:
        yield [*_values(row, ranged), *([row.mark or ""] if marked else [])]


def _has_range(cell: Cell) -> bool:
    return cell.low is not None or cell.high is not None


def _headings(key: str, wide: bool) -> list[str]:
    return [key, f"{key}_low", f"{key}_high"] if wide else [key]


def _values(row: Row, ranged: Iterable[bool]) -> Iterator[str]:
    for cell, wide in zip(row.cells, ranged, strict=True):
        yield _value(cell)
        if wide:
            yield from ("" if end is None else repr(end) for end in (cell.low, cell.high))


def _value(cell: Cell) -> str:
    match cell.value:
        case None:
            return "" if cell.text == _NOTHING else _defused(cell.text)
        case str():
            return _defused(cell.value)
        case bool():
            return str(cell.value).lower()
        case _:
            return repr(cell.value)


def _defused(text: str) -> str:
    """A text that no spreadsheet takes for a formula; a number stays one."""
    return (
        f"'{text}" if text.lstrip(" ").startswith(("=", "+", "-", "@", "\t", "\r")) and not _is_number(text) else text
    )


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _csv(rows: Iterable[list[str]]) -> str:
    """RFC 4180."""
    file = io.StringIO()
    csv.writer(file).writerows(rows)
    return file.getvalue()


def _zipped(files: Mapping[str, str]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in files.items():
            entry = zipfile.ZipInfo(name, _LONG_AGO)
            entry.create_system = 3  # Unix, on every system
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, text.encode(), zipfile.ZIP_DEFLATED)
    return packed.getvalue()


MEMBER = Csv()
