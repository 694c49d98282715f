"""The store looked after: made, measured, packed, brought up to date."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, JobError
from modeldyno.store.backup import counts_of
from modeldyno.store.database import connect, kept_before_migration, version_of
from modeldyno.store.rewrite import rewrite
from modeldyno.store.sample import sample_items
from modeldyno.store.store import Store

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Migrated:
    """From which schema to which, and where the old file is kept; equal versions mean that nothing was to do."""

    before: int
    after: int
    backup: Path | None


def init(store: Store, sample_data: bool) -> int:
    """Make the store if it is not there; with sample data, in an empty one only. Returns how many records it has."""
    try:
        store.path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"Cannot make {store.path.parent}: {error.strerror}; choose another --store.") from None
    with connect(store.path, write=True) as connection:
        records = counts_of(connection)["records"]
    if sample_data and records:
        raise InputError(f"The store {store.path} has {records} records; sample data goes into a new --store only.")
    return store.add(sample_items()).new["record"] if sample_data else records


def migrate(store: Store) -> Migrated:
    """Bring the schema up to date; the old file is kept beside the new one."""
    path = store.existing()
    before = _version(path)
    kept = kept_before_migration(path, before)
    with connect(path, write=True) as connection:
        after = version_of(connection)
    return Migrated(before, after, kept if before != after and kept.exists() else None)


def _version(path: Path) -> int:
    """The schema as it is, without migrating it."""
    import duckdb

    from modeldyno.store.database import locked, open_file

    with locked(path, write=False):
        connection = open_file(path, write=False)
        try:
            return version_of(connection)
        except duckdb.Error:
            raise JobError(f"{path} is a database, but not a store of modeldyno; choose another --store.") from None
        finally:
            connection.close()


def vacuum(store: Store) -> tuple[int, int]:
    """Write the database compactly; returns its size before and after, in bytes."""
    path = store.existing()
    with connect(path, write=True) as connection:
        connection.execute("CHECKPOINT")
        before = path.stat().st_size
        rewrite(connection, path)
    return before, path.stat().st_size


_BY = {
    "platform": "SELECT platform, count(*) FROM records JOIN cases USING (case_key) GROUP BY ALL",
    "status": "SELECT status, count(*) FROM records GROUP BY ALL",
    "provenance": "SELECT provenance, count(*) FROM records GROUP BY ALL",
}


def stats(store: Store) -> dict[str, Any]:
    """How much there is of what, from when to when, and how large it is."""
    with store.reading() as connection:
        document: dict[str, Any] = {
            "store": str(store.path),
            "schema": version_of(connection),
            "tables": counts_of(connection),
            "records": {name: dict(_rows(connection, f"{sql} ORDER BY ALL")) for name, sql in _BY.items()},
        }
        ((first, last),) = _rows(connection, "SELECT min(started_at), max(started_at) FROM records")
    document["first"], document["last"] = (moment and f"{moment.isoformat()}Z" for moment in (first, last))
    return document | {"bytes": store.path.stat().st_size, "spool": _spool(store.spool)}


def _rows(connection: duckdb.DuckDBPyConnection, sql: str) -> list[tuple[Any, ...]]:
    return connection.execute(sql).fetchall()


def _spool(folder: Path) -> dict[str, int]:
    files = list(folder.iterdir()) if folder.is_dir() else []
    counts = {name: sum(file.suffix == ending for file in files) for name, ending in _ENDINGS.items()}
    return counts | {"bytes": sum(file.stat().st_size for file in files)}


_ENDINGS = {"waiting": ".ndjson", "torn": ".torn", "partial": ".partial"}
