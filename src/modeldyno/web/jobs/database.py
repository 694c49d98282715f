"""The tables of the queue in the server's SQLite file, which other parts of the server use as well."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path

from modeldyno.core.errors import JobError

PATIENCE_S = 30.0
"""How long to wait for whoever else writes."""
_TABLES = (
    """CREATE TABLE IF NOT EXISTS jobs (
        job_id TEXT PRIMARY KEY,
        state TEXT NOT NULL,
        priority INTEGER NOT NULL,
        who TEXT NOT NULL,
        created_at TEXT NOT NULL,
        started_at TEXT,
        ended_at TEXT,
        title TEXT NOT NULL,
        "order" TEXT NOT NULL,
        devices TEXT NOT NULL,
        run_id TEXT NOT NULL,
        attempt INTEGER NOT NULL DEFAULT 0,
        cases_total INTEGER NOT NULL,
        cases_done INTEGER NOT NULL DEFAULT 0,
        ok INTEGER NOT NULL DEFAULT 0,
        failed INTEGER NOT NULL DEFAULT 0,
        skipped INTEGER NOT NULL DEFAULT 0,
        invalid INTEGER NOT NULL DEFAULT 0,
        reason TEXT,
        wanted TEXT,
        process INTEGER,
        process_started REAL
    ) STRICT""",
    "CREATE INDEX IF NOT EXISTS jobs_by_state ON jobs (state, priority DESC, job_id)",
    """CREATE TABLE IF NOT EXISTS job_events (
        job_id TEXT NOT NULL REFERENCES jobs (job_id),
        number INTEGER NOT NULL,
        at TEXT NOT NULL,
        kind TEXT NOT NULL,
        data TEXT NOT NULL,
        PRIMARY KEY (job_id, number)
    ) STRICT, WITHOUT ROWID""",
    """CREATE TABLE IF NOT EXISTS alerts (
        alert_id TEXT PRIMARY KEY,
        at TEXT NOT NULL,
        job_id TEXT NOT NULL REFERENCES jobs (job_id),
        kind TEXT NOT NULL,
        about TEXT NOT NULL,
        text TEXT NOT NULL,
        seen_by TEXT,
        seen_at TEXT,
        UNIQUE (job_id, kind, about)
    ) STRICT""",
)
"""`wanted` is the state that someone asked a running job to end in; `about` keeps alerts from being doubled."""


class Database:
    """Opens the file for one short transaction at a time, from any thread. Building one touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = threading.Lock()
        self._made = False

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        with self._opened() as connection:
            yield connection

    @contextmanager
    def writing(self) -> Iterator[sqlite3.Connection]:
        """All or nothing, and durable afterwards."""
        with self._opened() as connection:
            connection.execute("BEGIN IMMEDIATE")
            try:
                yield connection
                connection.execute("COMMIT")
            finally:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")

    @contextmanager
    def _opened(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                if not self._made:
                    self._make()
                    self._made = True
            with closing(self._connect()) as connection:
                yield connection
        except sqlite3.Error as error:
            raise JobError(f"Cannot use {self.path}: {error}; free some space, or end what keeps it open.") from error

    def _connect(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.path, timeout=PATIENCE_S, isolation_level=None)
        connection.row_factory = sqlite3.Row
        connection.execute("PRAGMA foreign_keys = ON")
        connection.execute("PRAGMA synchronous = FULL")
        return connection

    def _make(self) -> None:
        """Only the owner may read it: other parts keep secrets in the same file."""
        try:
            os.close(os.open(self.path, os.O_RDWR | os.O_CREAT, 0o600))
        except OSError as error:
            raise JobError(f"Cannot write {self.path}: {error.strerror}; choose another --store.") from None
        with closing(self._connect()) as connection:
            _use_log(connection)
            for statement in _TABLES:
                connection.execute(statement)


def _use_log(connection: sqlite3.Connection) -> None:
    """So that readers and a writer do not wait for each other. SQLite does not wait for others to change that."""
    for _ in range(100):
        with suppress(sqlite3.OperationalError):
            connection.execute("PRAGMA journal_mode = WAL")
            return
        time.sleep(0.05)
