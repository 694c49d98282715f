"""Regressions that someone has looked at and explained, in the server's SQLite file."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

from modeldyno.web.access.server_file import ENDING, ServerFile, as_moment

_TABLE = """
    CREATE TABLE IF NOT EXISTS acknowledgements (
        series_id TEXT NOT NULL, record_id TEXT NOT NULL, text TEXT NOT NULL, who TEXT NOT NULL, at REAL NOT NULL,
        PRIMARY KEY (series_id, record_id)
    ) STRICT
"""


@dataclass(frozen=True)
class Acknowledgement:
    """A sentence about the change that begins with this record."""

    series_id: str
    record_id: str
    text: str
    who: str
    at: datetime


class Acknowledgements:
    """Of one store. Building one touches nothing."""

    def __init__(self, store: Path) -> None:
        self.changes = 0
        """Made through this object."""
        self._file = ServerFile(store.with_name(store.name + ENDING))

    def all(self) -> tuple[Acknowledgement, ...]:
        """The newest first."""
        with self._file.read() as connection:
            connection.execute(_TABLE)
            rows = connection.execute("SELECT * FROM acknowledgements ORDER BY at DESC, record_id DESC").fetchall()
        return tuple(
            Acknowledgement(row["series_id"], row["record_id"], row["text"], row["who"], as_moment(row["at"]))
            for row in rows
        )

    def add(self, series_id: str, record_id: str, text: str, who: str) -> Acknowledgement:
        """What is said last counts."""
        at = datetime.now(UTC)
        with self._file.write() as connection:
            connection.execute(_TABLE)
            connection.execute(
                """INSERT INTO acknowledgements VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE
                    SET text = excluded.text, who = excluded.who, at = excluded.at""",
                [series_id, record_id, text, who, at.timestamp()],
            )
        self.changes += 1
        return Acknowledgement(series_id, record_id, text, who, at)
