"""Opens the DuckDB file for a short time, one writer at once, and brings its schema up to date."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError, JobError

if TYPE_CHECKING:
    import duckdb

PATIENCE_S = 60.0


@contextmanager
def connect(path: Path, write: bool) -> Iterator[duckdb.DuckDBPyConnection]:
    """A connection under the store's lock; readers share it, a writer has it alone."""
    if not write and _is_outdated(path):
        with connect(path, write=True):
            pass
    with _lock(path, write):
        connection = _open(path, write)
        try:
            if write:
                _migrate(connection)
            yield connection
        finally:
            connection.close()


def _open(path: Path, write: bool) -> duckdb.DuckDBPyConnection:
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
def _lock(path: Path, write: bool) -> Iterator[None]:
    lock = path.with_name(path.name + ".lock")
    try:
        descriptor = os.open(lock, os.O_RDWR | os.O_CREAT, 0o644)
    except OSError as error:
        raise InputError(f"Cannot use the store {path}: {error.strerror}; choose another --store.") from None
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if write else fcntl.LOCK_SH)
        yield
    finally:
        os.close(descriptor)


def _is_outdated(path: Path) -> bool:
    """Whether a reader would meet a schema it does not know; a newer one is refused by the migration."""
    with _lock(path, write=False):
        connection = _open(path, write=False)
        try:
            row = connection.execute("SELECT max(version) FROM schema_versions").fetchone()
        except duckdb_error() as error:
            raise JobError(f"{path} is not a store of modeldyno ({error}); choose another --store.") from None
        finally:
            connection.close()
    return row is None or row[0] != max(_migrations())


def duckdb_error() -> type[Exception]:
    import duckdb

    return duckdb.Error


def _migrate(connection: duckdb.DuckDBPyConnection) -> None:
    """Apply the migrations this file has not seen yet, each in a transaction."""
    connection.execute(
        "CREATE TABLE IF NOT EXISTS schema_versions (version INTEGER PRIMARY KEY, applied_at TIMESTAMP NOT NULL)"
    )
    row = connection.execute("SELECT coalesce(max(version), 0) FROM schema_versions").fetchone()
    current = int(row[0]) if row else 0
    known = _migrations()
    if current > max(known):
        raise JobError(f"This store has schema {current}, newer than this modeldyno knows; upgrade modeldyno.")
    for version, sql in sorted(known.items()):
        if version > current:
            connection.execute("BEGIN")
            connection.execute(sql)
            connection.execute("INSERT INTO schema_versions VALUES (?, now()::TIMESTAMP)", [version])
            connection.execute("COMMIT")


def _migrations() -> dict[int, str]:
    folder = files("modeldyno.store") / "migrations"
    return {int(f.name.split("_")[0]): f.read_text() for f in folder.iterdir() if f.name.endswith(".sql")}
