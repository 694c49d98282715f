"""The SQLite file beside the store for what the server knows of people; other parts have tables of theirs in it."""

from __future__ import annotations

import os
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from modeldyno.core.errors import InputError, JobError

ENDING = ".server.sqlite"
PATIENCE_S = 15.0
"""How long to wait for another process that writes."""
_PRIVATE = 0o600
_SCHEMA = """
CREATE TABLE IF NOT EXISTS users (
    name TEXT PRIMARY KEY, role TEXT NOT NULL, password_hash TEXT NOT NULL, created_at REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS tokens (
    token_id TEXT PRIMARY KEY, user TEXT NOT NULL REFERENCES users (name) ON DELETE CASCADE, name TEXT NOT NULL,
    hash TEXT NOT NULL, scope TEXT NOT NULL, created_at REAL NOT NULL, expires_at REAL NOT NULL, last_used_at REAL
) STRICT;
CREATE TABLE IF NOT EXISTS sessions (
    hash TEXT PRIMARY KEY, user TEXT NOT NULL, csrf TEXT NOT NULL, one_time INTEGER NOT NULL,
    created_at REAL NOT NULL, expires_at REAL NOT NULL
) STRICT;
CREATE TABLE IF NOT EXISTS attempts (name TEXT NOT NULL, address TEXT NOT NULL, at REAL NOT NULL) STRICT;
CREATE TABLE IF NOT EXISTS audit (
    number INTEGER PRIMARY KEY AUTOINCREMENT, at REAL NOT NULL, who TEXT NOT NULL, action TEXT NOT NULL,
    target TEXT NOT NULL, outcome TEXT NOT NULL, address TEXT NOT NULL
) STRICT;
"""
Now = Callable[[], datetime]


def utc_now() -> datetime:
    """The real clock: SOURCE_DATE_EPOCH must not keep a token alive."""
    return datetime.now(UTC)


def as_moment(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


class ServerFile:
    """Opened for each question and closed again, for others use it too. Building one touches nothing."""

    def __init__(self, path: Path, now: Now = utc_now) -> None:
        self.path = path
        self._now = now

    def now(self) -> float:
        """Seconds, as the tables have them."""
        return self._now().timestamp()

    @contextmanager
    def read(self) -> Iterator[sqlite3.Connection]:
        """Where there is no file yet, its tables are empty; asking makes none."""
        with self._explained(), closing(_open(self.path if self.path.exists() else None)) as connection:
            yield connection

    @contextmanager
    def write(self) -> Iterator[sqlite3.Connection]:
        """All of the block or nothing of it."""
        with self._explained():
            self._make_private()
            with closing(_open(self.path)) as connection:
                connection.execute("BEGIN IMMEDIATE")
                try:
                    yield connection
                except BaseException:
                    connection.execute("ROLLBACK")
                    raise
                connection.execute("COMMIT")

    def _make_private(self) -> None:
        """SQLite gives the files beside it the same mode."""
        descriptor = os.open(self.path, os.O_RDWR | os.O_CREAT, _PRIVATE)
        os.close(descriptor)
        if self.path.stat().st_mode & 0o077:
            self.path.chmod(_PRIVATE)

    @contextmanager
    def _explained(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            raise InputError(f"Cannot write {self.path}: {error.strerror}; choose another --store.") from None
        except sqlite3.Error as error:
            remedy = "try again, and if it stays so move the file away and add the users anew"
            raise JobError(f"Cannot use {self.path}: {error}; {remedy}.") from error


def _open(path: Path | None) -> sqlite3.Connection:
    connection = sqlite3.connect(path or ":memory:", timeout=PATIENCE_S, isolation_level=None)
    try:
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        _use_wal(connection)
        connection.executescript(_SCHEMA)
    except BaseException:
        connection.close()
        raise
    return connection


def _use_wal(connection: sqlite3.Connection) -> None:
    """Readers and a writer do not wait for each other; who finds the file just being changed leaves it to the other."""
    [[mode]] = connection.execute("PRAGMA journal_mode")
    if mode == "delete":
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
