"""Sessions of browsers, and the link that opens the first one."""

from __future__ import annotations

import secrets
import sqlite3
from dataclasses import dataclass
from datetime import timedelta

from modeldyno.web.access.roles import LOCAL, Role
from modeldyno.web.access.server_file import ServerFile
from modeldyno.web.access.tokens import hash_of

IDLE = timedelta(hours=12)
"""A session ends when it was not used for so long."""
LONGEST = timedelta(days=7)
"""And so long after the log-in in any case."""
LINK = timedelta(minutes=15)
_NOTED_S = 60.0
"""How exactly the last use is kept: not every request should have to write."""


@dataclass(frozen=True)
class Session:
    """Who is logged in, as what they are now."""

    user: str
    role: Role
    csrf: str


class Sessions:
    """Kept in the server's file, by the hash of what the browser has."""

    def __init__(self, file: ServerFile) -> None:
        self._file = file

    def start(self, user: str) -> str:
        """The secret for the cookie."""
        with self._file.write() as connection:
            return self._insert(connection, user, one_time=False, lasting=IDLE)

    def find(self, secret: str) -> Session | None:
        """None where it has ended or the user is gone; to ask counts as use."""
        ask = (
            "SELECT s.*, u.role FROM sessions s LEFT JOIN users u ON u.name = s.user WHERE s.hash = ? AND NOT one_time"
        )
        with self._file.read() as connection:
            row: sqlite3.Row | None = connection.execute(ask, (hash_of(secret),)).fetchone()
        if row is None or self._file.now() >= row["expires_at"]:
            return None
        role = Role.ADMIN.value if row["user"] == LOCAL else row["role"]
        if role is None:
            return None
        self._prolong(row)
        return Session(row["user"], Role(role), row["csrf"])

    def end(self, secret: str) -> None:
        with self._file.write() as connection:
            connection.execute("DELETE FROM sessions WHERE hash = ? AND NOT one_time", (hash_of(secret),))

    def one_time_secret(self) -> str:
        """For one use within a quarter of an hour."""
        with self._file.write() as connection:
            return self._insert(connection, LOCAL, one_time=True, lasting=LINK)

    def redeem(self, secret: str) -> str | None:
        """The session that the link opens; None where it is used up."""
        spend = "DELETE FROM sessions WHERE hash = ? AND one_time AND expires_at > ?"
        with self._file.write() as connection:
            if not connection.execute(spend, (hash_of(secret), self._file.now())).rowcount:
                return None
            return self._insert(connection, LOCAL, one_time=False, lasting=IDLE)

    def _insert(self, connection: sqlite3.Connection, user: str, one_time: bool, lasting: timedelta) -> str:
        secret, now = secrets.token_urlsafe(32), self._file.now()
        connection.execute("DELETE FROM sessions WHERE expires_at <= ?", (now,))
        values = (hash_of(secret), user, secrets.token_urlsafe(32), one_time, now, now + lasting.total_seconds())
        connection.execute("INSERT INTO sessions VALUES (?, ?, ?, ?, ?, ?)", values)
        return secret

    def _prolong(self, row: sqlite3.Row) -> None:
        until = min(self._file.now() + IDLE.total_seconds(), row["created_at"] + LONGEST.total_seconds())
        if until - row["expires_at"] > _NOTED_S:
            with self._file.write() as connection:
                connection.execute("UPDATE sessions SET expires_at = ? WHERE hash = ?", (until, row["hash"]))
