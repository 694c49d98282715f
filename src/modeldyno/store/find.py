"""Finds what a person names by the beginning of its id, and where runs happened."""

from __future__ import annotations

from modeldyno.core.errors import InputError
from modeldyno.core.types import Host, Record
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

SHOWN = 5


def find_record(store: Store, name: str) -> Record | None:
    """The one record whose id begins so; None where none does."""
    with store.reading() as connection:
        rows = connection.execute(
            f"SELECT record_id FROM records WHERE starts_with(record_id, ?) ORDER BY ALL DESC LIMIT {SHOWN + 1}",
            [name.lower()],
        ).fetchall()
    found = [str(row[0]) for row in rows]
    if len(found) > 1:
        shown = ", ".join(found[:SHOWN]) + (", ..." if len(found) > SHOWN else "")
        raise InputError(f"Several records begin with '{name}': {shown}; write more of the id.")
    return store.records(Filter(record_id=(found[0],)))[0] if found else None


def hosts_of_runs(store: Store) -> dict[str, Host]:
    """The host of every run by the run's id, as it was then."""
    with store.reading() as connection:
        rows = connection.execute("SELECT run_id, host FROM runs").fetchall()
    return {run_id: Host.model_validate_json(host) for run_id, host in rows}
