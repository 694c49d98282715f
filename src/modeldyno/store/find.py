"""Finds what a person names by the beginning of its id."""

from __future__ import annotations

from modeldyno.core.errors import InputError
from modeldyno.core.types import Record
from modeldyno.store.database import connect
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

SHOWN = 5


def find_record(store: Store, name: str) -> Record | None:
    """The one record whose id begins so; None where none does."""
    with connect(store.existing(), write=False) as connection:
        rows = connection.execute(
            f"SELECT record_id FROM records WHERE starts_with(record_id, ?) ORDER BY ALL DESC LIMIT {SHOWN + 1}",
            [name.lower()],
        ).fetchall()
    found = [str(row[0]) for row in rows]
    if len(found) > 1:
        shown = ", ".join(found[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
        raise InputError(f"Several records begin with '{name}': {shown}; write more of the id.")
    return store.records(Filter(record_id=(found[0],)))[0] if found else None
