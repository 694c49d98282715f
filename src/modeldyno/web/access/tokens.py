"""Tokens for programs: shown once, kept as hashes, with a scope and an end."""

from __future__ import annotations

import hmac
import re
import secrets
import sqlite3
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.web.access.roles import Role
from modeldyno.web.access.server_file import ServerFile, as_moment

USUAL = timedelta(days=90)
LONGEST = timedelta(days=366)
MOST = 100
"""Tokens that one user may have."""
NAME_LONGEST = 64
ID_PATTERN = r"^[0-9a-f]{16}$"
_TEXT = re.compile(r"dyno_([0-9a-f]{16})_([A-Za-z0-9_-]{43})")
_NOTED_S = 60.0
"""How exactly the last use is kept: not every request should have to write."""


@dataclass(frozen=True)
class Token:
    """A token without its secret."""

    token_id: str
    user: str
    name: str
    scope: Role
    created_at: datetime
    expires_at: datetime
    last_used_at: datetime | None = None


@dataclass(frozen=True)
class Bearer:
    """Whom a token speaks for, and how far."""

    user: str
    role: Role


class Tokens:
    """Kept in the server's file."""

    def __init__(self, file: ServerFile) -> None:
        self._file = file

    def make(self, user: str, name: str, scope: Role, lasting: timedelta = USUAL) -> tuple[Token, str]:
        """A new token, and its text, which nobody can show again."""
        _check(name, lasting)
        token_id, secret = secrets.token_hex(8), secrets.token_urlsafe(32)
        now = self._file.now()
        values = (token_id, user, name, hash_of(secret), scope.value, now, now + lasting.total_seconds(), None)
        with self._file.write() as connection:
            _check_owner(connection, user, scope)
            connection.execute("INSERT INTO tokens VALUES (?, ?, ?, ?, ?, ?, ?, ?)", values)
            made = connection.execute("SELECT * FROM tokens WHERE token_id = ?", (token_id,)).fetchone()
        return _token(made), f"dyno_{token_id}_{secret}"

    def of(self, user: str) -> tuple[Token, ...]:
        """Also those that have ended, so that people see why they stopped."""
        with self._file.read() as connection:
            rows = connection.execute("SELECT * FROM tokens WHERE user = ? ORDER BY created_at, token_id", (user,))
            return tuple(_token(row) for row in rows)

    def remove(self, user: str, token_id: str) -> Token:
        with self._file.write() as connection:
            rows = {row["token_id"]: row for row in connection.execute("SELECT * FROM tokens WHERE user = ?", (user,))}
            if token_id not in rows:
                raise UnknownName(f"token of {user}", token_id, rows)
            connection.execute("DELETE FROM tokens WHERE token_id = ?", (token_id,))
        return _token(rows[token_id])

    def bearer(self, text: str) -> Bearer | None:
        """None for whatever is no token, has ended, or was somebody's who is gone."""
        parts = _TEXT.fullmatch(text)
        if not parts:
            return None
        ask = "SELECT t.*, u.role FROM tokens t JOIN users u ON u.name = t.user WHERE t.token_id = ?"
        with self._file.read() as connection:
            row: sqlite3.Row | None = connection.execute(ask, (parts[1],)).fetchone()
        if row is None or not hmac.compare_digest(row["hash"], hash_of(parts[2])):
            return None
        now = self._file.now()
        if now >= row["expires_at"]:
            return None
        if now - (row["last_used_at"] or 0.0) > _NOTED_S:
            self._note_use(parts[1], now)
        return Bearer(row["user"], min(Role(row["scope"]), Role(row["role"])))

    def _note_use(self, token_id: str, now: float) -> None:
        with self._file.write() as connection:
            connection.execute("UPDATE tokens SET last_used_at = ? WHERE token_id = ?", (now, token_id))


def hash_of(secret: str) -> str:
    """Of 256 random bits: those need no slow hash."""
    return sha256(secret.encode(errors="replace")).hexdigest()


def _check(name: str, lasting: timedelta) -> None:
    if not 1 <= len(name) <= NAME_LONGEST or not name.isprintable():
        raise InputError(f"{name[:80]!r} is no name for a token; say in 1 to {NAME_LONGEST} characters what it is for.")
    if not timedelta(0) < lasting <= LONGEST:
        raise InputError(f"A token lasts at most {LONGEST.days} days; give a time like 30d or 12h.")


def _check_owner(connection: sqlite3.Connection, user: str, scope: Role) -> None:
    roles = {row["name"]: Role(row["role"]) for row in connection.execute("SELECT name, role FROM users")}
    if user not in roles:
        raise UnknownName("user", user, roles)
    if scope > roles[user]:
        raise InputError(f"{user} is a {roles[user]}, and a token cannot do more; choose --scope {roles[user]}.")
    [[count]] = connection.execute("SELECT count(*) FROM tokens WHERE user = ?", (user,))
    if count >= MOST:
        raise InputError(f"{user} has {MOST} tokens; remove one first.")


def _token(row: sqlite3.Row) -> Token:
    used = row["last_used_at"]
    return Token(
        token_id=row["token_id"],
        user=row["user"],
        name=row["name"],
        scope=Role(row["scope"]),
        created_at=as_moment(row["created_at"]),
        expires_at=as_moment(row["expires_at"]),
        last_used_at=None if used is None else as_moment(used),
    )
