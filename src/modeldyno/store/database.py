"""Opens the DuckDB file for a short time, one writer at once, and brings its schema up to date."""

from __future__ import annotations

import fcntl
import itertools
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError, JobError
from modeldyno.core.metrics import METRICS
from modeldyno.store import durable

if TYPE_CHECKING:
    import duckdb

PATIENCE_S = 60.0
"""How long to wait for a program that is not ours."""
QUEUE_S = 300.0
"""How long to wait for other commands of ours, each of which has the store for seconds."""


@contextmanager
def connect(path: Path, write: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection under the store's lock; readers share it, a writer has it alone.

    A store of an earlier schema is migrated first, by readers as well."""
    with locked(path, write):
        connection = open_file(path, write)
        try:
            outdated = is_outdated(connection, path)
            if write and outdated:
                _migrate(connection, path)
            if write or not outdated:
                yield connection
                return
        finally:
            connection.close()
    with connect(path, write=True):
        pass
    with connect(path, write) as connection:
        yield connection


def open_file(path: Path, write: bool) -> duckdb.DuckDBPyConnection:
    """Outside programs may hold DuckDB's own lock for a moment: wait for them too."""
    import duckdb

    deadline = time.monotonic() + PATIENCE_S
    pause = 0.01
    while True:
        try:
            return duckdb.connect(path, read_only=not write)
        except duckdb.Error as error:
            if "Could not set lock" not in str(error):
                reason = str(error).splitlines()[0]
                raise JobError(f"Cannot open the store {path}: {reason}; choose another --store.") from None
            if time.monotonic() > deadline:
                raise JobError(
                    f"Another program keeps the store {path} open; close it and run the command again."
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, 0.5)


@contextmanager
def locked(path: Path, write: bool) -> Iterator[None]:
    lock = path.with_name(path.name + ".lock")
    if path.is_dir():
        raise InputError(f"{path} is a folder, not a store; choose another --store.")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(f"Cannot use the store {path}: {error.strerror}; choose another --store.") from None
    try:
        _wait(descriptor, fcntl.LOCK_EX if write else fcntl.LOCK_SH, path)
        yield
    finally:
        os.close(descriptor)


def _wait(descriptor: int, kind: int, path: Path) -> None:
    """Locks are short; who waits long is told, and who waits for ever is told what to do."""
    deadline = time.monotonic() + QUEUE_S
    pause = 0.001
    while True:
        try:
            fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
        except BlockingIOError:
            if time.monotonic() > deadline:
                raise JobError(
                    f"The store {path} has been in use by another command for {QUEUE_S:g} s; wait for it to end, "
                    "and run this again."
                ) from None
            time.sleep(pause)
            pause = min(pause * 2, 0.1)
        else:
            return


def is_outdated(connection: duckdb.DuckDBPyConnection, path: Path) -> bool:
    import duckdb

    newest = max(_migrations())
    try:
        current = version_of(connection)
    except duckdb.Error:
        raise JobError(f"{path} is a database, but not a store of modeldyno; choose another --store.") from None
    if current > newest:
        raise JobError(f"The store {path} has schema {current}, newer than this modeldyno knows; upgrade modeldyno.")
    return current != newest


def _migrate(connection: duckdb.DuckDBPyConnection, path: Path) -> None:
    """Apply the migrations this file has not seen yet, all in one transaction; the old file is kept beside it."""
    current, known = version_of(connection), _migrations()
    if current:
        _keep_old(connection, path, current)
    connection.execute("BEGIN")
    try:
        connection.execute(
            "CREATE TABLE IF NOT EXISTS schema_versions (version INTEGER PRIMARY KEY, applied_at TIMESTAMP NOT NULL)"
        )
        for version, sql in sorted(known.items()):
            if version > current:
                connection.execute(sql)
                connection.execute("INSERT INTO schema_versions VALUES (?, now()::TIMESTAMP)", [version])
        connection.execute(_views())
        connection.execute("COMMIT")
    except BaseException:
        connection.execute("ROLLBACK")
        raise


def version_of(connection: duckdb.DuckDBPyConnection) -> int:
    """The schema's version; 0 for an empty database."""
    tables = connection.execute("SELECT table_name FROM duckdb_tables()").fetchall()
    if not tables:
        return 0
    row = connection.execute("SELECT max(version) FROM schema_versions").fetchone()
    return int(row[0]) if row else 0


def _keep_old(connection: duckdb.DuckDBPyConnection, path: Path, version: int) -> None:
    """A migration that goes wrong must not cost the data."""
    connection.execute("CHECKPOINT")
    durable.copy(path, kept_before_migration(path, version))


def kept_before_migration(path: Path, version: int) -> Path:
    """A free name beside the store for the file as it was."""
    endings = itertools.chain([""], (f"-{number}" for number in itertools.count(2)))
    names = (path.with_name(f"{path.name}.schema{version}{ending}") for ending in endings)
    return next(name for name in names if not name.exists())


def _migrations() -> dict[int, str]:
    folder = files("modeldyno.store") / "sql" / "migrations"
    return {int(f.name.split("_")[0]): f.read_text() for f in folder.iterdir() if f.name.endswith(".sql")}


def sql_text(name: str) -> str:
    return (files("modeldyno.store") / "sql" / name).read_text()


def _views() -> str:
    """The views with a column or a part for each metric of the metric table."""
    values = ", ".join(f"r.{name}.value AS {name}" for name in METRICS)
    parts = (
        f"SELECT record_id, '{name}' AS name, {name}.value, {name}.low, {name}.high, {name}.n, {name}.note "
        f"FROM records WHERE {name} IS NOT NULL"
        for name in METRICS
    )
    return sql_text("views.sql").replace("{values}", values).replace("{metrics}", " UNION ALL ".join(parts))
