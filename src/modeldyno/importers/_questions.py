"""Tables of results in which some are missing: each row as the record it would be, with or without its number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.core.types import Record
from modeldyno.importers import IMPORTERS
from modeldyno.importers._document import Document, Row, Table, Unreadable, load
from modeldyno.importers._sheet import Sheet

_LAYOUTS = {
    "timm": (("model", "img_size", "hardware"), ("samples_per_sec", "step_time")),
    "ai-hub": (("model", "device", "runtime"), ("latency_ms",)),
}
"""Columns by which a layout is known, and those that may be asked for, the usual one first."""
_OPTIONAL = ("compute_unit", "job_id", "samples_per_sec", "step_time", "latency_ms")


@dataclass(frozen=True)
class Asked:
    """One row."""

    id: Any
    record: Record | None
    """None where the row cannot be understood."""
    reason: str | None
    filled: bool
    """Whether its number is there."""


@dataclass(frozen=True)
class Questions:
    rows: tuple[Asked, ...]
    target: str
    """The column that is asked for."""
    has_target: bool = True
    """Whether there is such a column at all; without one every row is a question."""


def read_questions(path: Path) -> Questions:
    """Raises InputError for a file that is no such table."""
    document = _loaded(path)
    table = document.table
    if table is None or not table.rows:
        raise InputError(f"{path} has no rows; give a table with an id and the columns of an imported one.")
    if "id" not in table.columns:
        raise InputError(f"{path} has no column id; add one, so that answers can be told apart.")
    layout, targets = _layout(path, table)
    importer = IMPORTERS.get(layout)
    target = _target(table, targets)
    columns = tuple(dict.fromkeys([*table.columns, *_OPTIONAL]))
    rows = (_asked(document, importer, columns, row, target) for row in table.rows)
    return Questions(tuple(rows), target, target in table.columns)


def _loaded(path: Path) -> Document:
    try:
        return load(path)
    except (OSError, Unreadable) as error:
        raise InputError(f"{path} cannot be read: {error}; give a table as Parquet or CSV.") from None


def _layout(path: Path, table: Table) -> tuple[str, tuple[str, ...]]:
    for name, (known_by, targets) in _LAYOUTS.items():
        if set(known_by) <= set(table.columns):
            return name, targets
    needed = " or ".join(", ".join(known_by) for known_by, _ in _LAYOUTS.values())
    raise InputError(f"{path} has none of the known layouts; it needs the columns {needed}.")


def _target(table: Table, targets: tuple[str, ...]) -> str:
    """The one that is there and has gaps; of several the usual one."""
    there = [name for name in targets if name in table.columns]
    gaps = [name for name in there if any(row.get(name) is None for row in table.rows)]
    filled = [name for name in gaps if any(row.get(name) is not None for row in table.rows)]
    return next(iter([*filled, *gaps, *there, targets[0]]))


def _asked(document: Document, importer: Any, columns: tuple[str, ...], row: Row, target: str) -> Asked:
    """The row by itself, as if it were a file."""
    full = {name: row.get(name) for name in columns}
    sheet = Sheet(replace(document, table=Table(columns, (full,))), importer.name, questions=True)
    importer.read(replace(document, table=Table(columns, (full,))), sheet)
    found = next(_records(sheet), None)
    reason = None if found else next((one.reason for one in sheet.rejected), "cannot be understood")
    return Asked(row.get("id"), found, reason, row.get(target) is not None)


def _records(sheet: Sheet) -> Iterator[Record]:
    return (item for item in sheet.items if isinstance(item, Record))
