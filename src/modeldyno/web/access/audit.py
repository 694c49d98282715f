"""The audit log: who did what, from where, and how it ended."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from modeldyno.web.access.server_file import ServerFile, as_moment

KEPT = 100_000
"""Entries; the oldest go first, so that nobody can fill the disk with failed log-ins."""
_LONGEST_FIELD = 200


@dataclass(frozen=True)
class Note:
    """One entry."""

    at: datetime
    who: str
    action: str
    target: str
    outcome: str
    address: str


class Audit:
    """Kept in the server's file."""

    def __init__(self, file: ServerFile) -> None:
        self._file = file

    def note(self, who: str, action: str, target: str = "", outcome: str = "ok", address: str = "") -> None:
        fields = [plain(text) for text in (who, action, target, outcome, address)]
        add = "INSERT INTO audit (at, who, action, target, outcome, address) VALUES (?, ?, ?, ?, ?, ?)"
        with self._file.write() as connection:
            number = connection.execute(add, (self._file.now(), *fields)).lastrowid or 0
            connection.execute("DELETE FROM audit WHERE number <= ?", (number - KEPT,))

    def newest(self, limit: int = 100) -> tuple[Note, ...]:
        """The newest first."""
        with self._file.read() as connection:
            rows = connection.execute("SELECT * FROM audit ORDER BY number DESC LIMIT ?", (limit,))
            return tuple(Note(as_moment(row["at"]), *(row[name] for name in _FIELDS)) for row in rows)


_FIELDS = ("who", "action", "target", "outcome", "address")


def plain(text: str) -> str:
    """One line that shows every letter: what cannot be printed, and the backslash, as Python writes it."""
    cut = text if len(text) <= _LONGEST_FIELD else text[:_LONGEST_FIELD] + "..."
    return "".join(letter if letter.isprintable() and letter != "\\" else _escaped(letter) for letter in cut)


def _escaped(letter: str) -> str:
    return letter.encode("unicode_escape").decode("ascii")
