"""Passwords: what is asked of them, and their argon2 hashes."""

from __future__ import annotations

import functools
import threading
import unicodedata
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError, Unsupported

if TYPE_CHECKING:
    from argon2 import PasswordHasher

SHORTEST = 10
LONGEST = 1024
_AT_ONCE = threading.BoundedSemaphore(2)
"""A hash takes 64 MiB: many log-ins at once must not take the memory of the machine."""


def check_rules(name: str, password: str) -> None:
    """An InputError says what is wrong with it."""
    if not SHORTEST <= len(password) <= LONGEST:
        raise InputError(f"The password has {len(password)} characters; choose one of {SHORTEST} to {LONGEST}.")
    if name.casefold() == password.casefold():
        raise InputError("The password is the name of the user; choose another.")
    if any(0xD800 <= ord(letter) < 0xE000 for letter in password):
        raise InputError("The password is no text; give it in UTF-8.")


def hashed(password: str) -> str:
    with _AT_ONCE:
        return _hasher().hash(_normal(password))


def is_right(known: str | None, password: str) -> bool:
    """Takes as long when there is no hash to compare with, so that the time does not tell which users exist."""
    from argon2.exceptions import Argon2Error, InvalidHashError

    with _AT_ONCE:
        try:
            right = _hasher().verify(known or _nobodys(), _normal(password))
        except (Argon2Error, InvalidHashError):
            return False
    return right and known is not None


def is_outdated(known: str) -> bool:
    """Whether the hash was made with other parameters than those of today."""
    return _hasher().check_needs_rehash(known)


@functools.cache
def _hasher() -> PasswordHasher:
    try:
        from argon2 import PasswordHasher
    except ImportError as error:
        raise Unsupported("Users need argon2-cffi", "pip install 'modeldyno[server]'") from error
    return PasswordHasher()


@functools.cache
def _nobodys() -> str:
    return _hasher().hash("nobody has this password")


def _normal(password: str) -> bytes:
    """The same for all keyboards, which write é in one character or in two."""
    return unicodedata.normalize("NFKC", password).encode(errors="replace")
