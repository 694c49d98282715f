"""Our own Parquet, as `dyno db export` writes it: each row is a record or a test with its run and its import."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import UTC
from typing import Any

from modeldyno.importers._document import Document, Row
from modeldyno.importers._sheet import Sheet
from modeldyno.store.read import passport_document
from modeldyno.store.spool import Item, from_document

_OWNERS = ("import", "run")
_DOCUMENTS = {
    "record": ("device", "model", "placement", "check", "profile", "software"),
    "case": ("shape", "options"),
}
"""Fields that are JSON inside the columns."""


class ModeldynoParquet:
    name = "modeldyno-parquet"
    about = "modeldyno: dyno db export --format parquet"

    def recognises(self, document: Document) -> bool:
        return not document.text and set(_OWNERS) <= document.keys

    def read(self, document: Document, sheet: Sheet) -> None:
        seen: set[str] = set()
        for number, row in enumerate(document.table.rows if document.table else (), 1):
            try:
                for item in _items(row, seen):
                    sheet.keep(item)
            except (ValueError, TypeError, AttributeError, KeyError) as error:
                sheet.reject(f"row {number}", str(error))


def _items(row: Row, seen: set[str]) -> Iterator[Item]:
    """What the row belongs to, where it was not met before, then what it holds itself."""
    for kind in _OWNERS:
        text = row[kind]
        if text is not None and text not in seen:
            yield from_document({"kind": kind, "data": json.loads(text)})
            seen.add(text)
    for kind, restore in (("record", _record), ("test", _test)):
        if row.get(kind) is not None:
            yield from_document({"kind": kind, "data": restore(row[kind])})


def _record(columns: dict[str, Any]) -> dict[str, Any]:
    others = columns["other_metrics"] or {}
    known = {name: value for name, value in columns["metrics"].items() if value is not None}
    return (
        {name: value for name, value in _test(columns).items() if name != "other_metrics"}
        | _parsed(columns, "record")
        | {"case": columns["case"] | _parsed(columns["case"], "case"), "metrics": known | others}
        | {"passport": passport_document(columns["passport"])}
    )


def _test(columns: dict[str, Any]) -> dict[str, Any]:
    return columns | {"started_at": columns["started_at"].replace(tzinfo=UTC)}


def _parsed(columns: dict[str, Any], kind: str) -> dict[str, Any]:
    return {name: json.loads(columns[name]) if columns[name] else None for name in _DOCUMENTS[kind]}


MEMBER = ModeldynoParquet()
