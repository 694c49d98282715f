"""A file as data: JSON, lines of JSON, YAML, a table, or text. What cannot be read says why."""

from __future__ import annotations

import csv
import hashlib
import io
import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from modeldyno.core.elsewhere import Rejection

Row = dict[str, Any]
_LOG = re.compile(r"\s*\[ ?[A-Za-z0-9]+[ /][^,\]]*\]")
"""Text that begins like `[Step 1/11]` or `[ INFO ]` is no JSON."""
_NAME = re.compile(r"[A-Za-z_][\w .()/%#:-]*$")
"""What can head a column."""


class Unreadable(ValueError):
    """The file is broken; the text says where and how."""


@dataclass(frozen=True)
class Table:
    """Rows with named columns, and the rows that could not be read."""

    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    broken: tuple[Rejection, ...] = ()


@dataclass(frozen=True)
class Document:
    """One file. Exactly one of `data`, `lines`, `table` is filled; a file that is none of these has only `text`."""

    file: str
    digest: str
    size: int
    modified: datetime
    """When the file was written last: the only time there is where the content names none."""
    text: str = ""
    data: Any = None
    """A JSON or YAML document."""
    lines: tuple[tuple[int, Any], ...] = ()
    """Numbered lines of JSON."""
    table: Table | None = None
    broken: tuple[Rejection, ...] = field(default=())
    """Lines that are not JSON among those that are."""

    @cached_property
    def keys(self) -> frozenset[str]:
        """The outermost keys of a JSON object, or the columns of a table."""
        if self.table:
            return frozenset(self.table.columns)
        return frozenset(map(str, self.data)) if isinstance(self.data, dict) else frozenset()


def load(path: Path) -> Document:
    """Read a file by what is in it; `Unreadable` says why that is not possible."""
    content = path.read_bytes()
    modified = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    base = Document(str(path), hashlib.sha256(content).hexdigest(), len(content), modified)
    if content.startswith(b"PAR1"):
        return _with(base, table=_parquet(path))
    text = _decoded(content)
    if text.lstrip()[:1] in ("{", "[") and not _LOG.match(text):
        return _json_document(base, text)
    if (table := _csv(text)) is not None:
        return _with(base, text=text, table=table)
    return _with(base, text=text, data=_yaml(text))


def _with(base: Document, **changes: Any) -> Document:
    return Document(base.file, base.digest, base.size, base.modified, **changes)


def _decoded(content: bytes) -> str:
    encoding = "utf-16" if content[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8-sig"
    try:
        text = content.decode(encoding)
    except UnicodeDecodeError as error:
        raise Unreadable(f"byte {error.start} is not {encoding.removesuffix('-sig').upper()} text") from None
    if "\0" in text:
        raise Unreadable("it is neither text nor Parquet")
    return text


def _json_document(base: Document, text: str) -> Document:
    try:
        return _with(base, text=text, data=parse_json(text))
    except Unreadable as whole:
        if len(text.strip().splitlines()) < 2:
            raise
        lines, broken = _json_lines(text)
        if not lines or len(broken) > len(lines):
            raise whole from None
        return _with(base, text=text, lines=lines, broken=broken)


def _json_lines(text: str) -> tuple[tuple[tuple[int, Any], ...], tuple[Rejection, ...]]:
    lines: list[tuple[int, Any]] = []
    broken: list[Rejection] = []
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip():
            try:
                lines.append((number, parse_json(line)))
            except Unreadable as error:
                broken.append(Rejection(place=f"line {number}", reason=str(error)))
    return tuple(lines), tuple(broken)


def parse_json(text: str) -> Any:
    """Strict where Python is lenient: a key that stands twice is an error, for nobody knows which one is meant."""
    try:
        data = json.loads(text, object_pairs_hook=_no_twins)
        if "\\ud" in text.lower():
            json.dumps(data, ensure_ascii=False).encode()
        return data
    except UnicodeEncodeError:
        raise Unreadable("it holds half of a character (a lone surrogate)") from None
    except json.JSONDecodeError as error:
        raise Unreadable(f"it is not JSON: {error.msg} in line {error.lineno}, column {error.colno}") from None
    except RecursionError:
        raise Unreadable("it is nested too deeply") from None
    except ValueError as error:  # a number of thousands of digits
        raise Unreadable(f"it is not JSON: {error}") from None


def _no_twins(pairs: list[tuple[str, Any]]) -> Row:
    document = dict(pairs)
    if len(document) < len(pairs):
        names = [name for name, _ in pairs]
        twin = next(name for name in names if names.count(name) > 1)
        raise Unreadable(f"the key '{twin}' stands twice in one object")
    return document


def _yaml(text: str) -> Any:
    """A YAML mapping; None for any other text."""
    import yaml

    first = next((line for line in text.splitlines() if line.strip() and not line.startswith(("#", "---"))), "")
    if not re.match(r"[\w.\- ]+:(\s|$)", first):
        return None
    try:
        data = yaml.safe_load(text)
    except (yaml.YAMLError, ValueError, RecursionError):
        return None
    return data if isinstance(data, dict) else None


def _csv(text: str) -> Table | None:
    """A table with a heading of at least two columns; None for any other text."""
    heading = text.split("\n", 1)[0]
    delimiter = max(",;\t", key=heading.count)
    if heading.count(delimiter) < 1:
        return None
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    broken: list[Rejection] = []
    columns: tuple[str, ...] = ()
    for number, cells in _numbered(reader, broken):
        if not columns:
            columns = tuple(cell.strip() for cell in cells)
            if len(set(columns)) < len(columns) or not all(map(_NAME.match, columns)):
                return None
        elif len(cells) != len(columns):
            reason = f"has {len(cells)} cells where the heading has {len(columns)}"
            broken.append(Rejection(place=f"line {number}", reason=reason))
        else:
            rows.append(dict(zip(columns, (cell.strip() or None for cell in cells), strict=True)))
    return Table(columns, tuple(rows), tuple(broken))


def _numbered(reader: Any, broken: list[Rejection]) -> Iterator[tuple[int, list[str]]]:
    """Rows with their line numbers; after broken quoting nobody can tell where the next row begins, so it ends."""
    while True:
        try:
            cells = next(reader)
        except StopIteration:
            return
        except csv.Error as error:
            broken.append(Rejection(place=f"line {reader.line_num} and all after it", reason=f"broken CSV: {error}"))
            return
        if any(cell.strip() for cell in cells):
            yield reader.line_num, cells


def _parquet(path: Path) -> Table:
    import duckdb

    with duckdb.connect() as connection:
        try:
            cursor = connection.execute("SELECT * FROM read_parquet(?)", [str(path)])
            columns = tuple(column[0] for column in cursor.description)
            rows = tuple(dict(zip(columns, row, strict=True)) for row in cursor.fetchall())
        except (duckdb.Error, ValueError, OverflowError) as error:
            raise Unreadable(f"it is not sound Parquet: {str(error).splitlines()[0]}") from None
    return Table(columns, rows)
