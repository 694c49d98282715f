"""The users of the server."""

from __future__ import annotations

import re
import sqlite3
from dataclasses import dataclass
from datetime import datetime

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.web.access import passwords
from modeldyno.web.access.roles import RESERVED, Role
from modeldyno.web.access.server_file import ServerFile, as_moment

NAME_PATTERN = r"^[a-z][a-z0-9._-]{1,63}$"


@dataclass(frozen=True)
class User:
    """Somebody who can log in."""

    name: str
    role: Role
    created_at: datetime


class Users:
    """Kept in the server's file."""

    def __init__(self, file: ServerFile) -> None:
        self._file = file

    def add(self, name: str, role: Role, password: str) -> User:
        """A new user; an InputError where the name is taken or the password is too weak."""
        self.check_new(name)
        passwords.check_rules(name, password)
        secret = passwords.hashed(password)
        with self._file.write() as connection:
            values = (name, role.value, secret, self._file.now())
            try:
                connection.execute("INSERT INTO users VALUES (?, ?, ?, ?)", values)
            except sqlite3.IntegrityError:  # somebody else was faster
                raise _taken(name) from None
            _end_sessions(connection, name)
        return self.get(name)

    def check_new(self, name: str) -> None:
        """An InputError where nobody can be added under this name."""
        _check_name(name)
        if name in (user.name for user in self.all()):
            raise _taken(name)

    def change(self, name: str, role: Role, password: str) -> User:
        """Another role and password; whoever was logged in under the name has to log in again."""
        passwords.check_rules(name, password)
        secret = passwords.hashed(password)
        with self._file.write() as connection:
            _row(connection, name)
            order = "UPDATE users SET role = ?, password_hash = ? WHERE name = ?"
            connection.execute(order, (role.value, secret, name))
            _end_sessions(connection, name)
        return self.get(name)

    def remove(self, name: str) -> User:
        """The user with all tokens and sessions."""
        with self._file.write() as connection:
            gone = _row(connection, name)
            connection.execute("DELETE FROM users WHERE name = ?", (name,))
            _end_sessions(connection, name)
        return _user(gone)

    def get(self, name: str) -> User:
        with self._file.read() as connection:
            return _user(_row(connection, name))

    def all(self) -> tuple[User, ...]:
        with self._file.read() as connection:
            return tuple(_user(row) for row in connection.execute("SELECT * FROM users ORDER BY name"))

    def check(self, name: str, password: str) -> bool:
        """Whether this is the password of this user."""
        with self._file.read() as connection:
            row = connection.execute("SELECT password_hash FROM users WHERE name = ?", (name,)).fetchone()
        known: str | None = row["password_hash"] if row else None
        if not passwords.is_right(known, password) or known is None:
            return False
        if passwords.is_outdated(known):
            self._rehash(name, known, password)
        return True

    def _rehash(self, name: str, known: str, password: str) -> None:
        new = passwords.hashed(password)
        with self._file.write() as connection:
            order = "UPDATE users SET password_hash = ? WHERE name = ? AND password_hash = ?"
            connection.execute(order, (new, name, known))


def _check_name(name: str) -> None:
    if not re.fullmatch(NAME_PATTERN.strip("^$"), name):
        shape = "2 to 64 lower-case letters, digits, dots, dashes and underscores, a letter first"
        raise InputError(f"{name[:80]!r} is no name for a user; choose {shape}.")
    if name in RESERVED:
        raise InputError(f"The name '{name}' is taken by the server itself; choose another.")


def _taken(name: str) -> InputError:
    remedy = f"choose another name, or change it with: dyno users add {name} --role ROLE --change"
    return InputError(f"There is a user '{name}' already; {remedy}")


def _row(connection: sqlite3.Connection, name: str) -> sqlite3.Row:
    row: sqlite3.Row | None = connection.execute("SELECT * FROM users WHERE name = ?", (name,)).fetchone()
    if row is None:
        raise UnknownName("user", name, [known["name"] for known in connection.execute("SELECT name FROM users")])
    return row


def _user(row: sqlite3.Row) -> User:
    return User(row["name"], Role(row["role"]), as_moment(row["created_at"]))


def _end_sessions(connection: sqlite3.Connection, name: str) -> None:
    connection.execute("DELETE FROM sessions WHERE user = ?", (name,))
