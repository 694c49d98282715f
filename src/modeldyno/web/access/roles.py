"""What a person may do, who a request comes from, and how it is refused."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from modeldyno.core.errors import DynoError

LOCAL = "local"
"""The name of whoever came by the one-time link."""
ANONYMOUS = "anonymous"
RESERVED = (LOCAL, ANONYMOUS)
How = Literal["anonymous", "cookie", "token", "one-time"]


class Role(StrEnum):
    """In order: a role may do what those before it may."""

    VIEWER = "viewer"
    """Reads."""
    RUNNER = "runner"
    """Also submits and cancels jobs, ingests records, acknowledges regressions, generates files on the server."""
    ADMIN = "admin"
    """Also deletes, and manages users."""

    @property
    def rank(self) -> int:
        return list(Role).index(self)

    # As text, admin would come first.
    def __lt__(self, other: str) -> bool:
        return self.rank < Role(other).rank

    def __le__(self, other: str) -> bool:
        return self.rank <= Role(other).rank

    def __gt__(self, other: str) -> bool:
        return self.rank > Role(other).rank

    def __ge__(self, other: str) -> bool:
        return self.rank >= Role(other).rank


@dataclass(frozen=True)
class Person:
    """Who a request comes from."""

    name: str
    role: Role
    how: How
    csrf: str | None = field(default=None, repr=False)
    """What unsafe requests must bring along; None where no browser sends anything by itself."""


NOBODY = Person(ANONYMOUS, Role.VIEWER, "anonymous")


class AccessDenied(DynoError):
    """A request that is refused, with the HTTP status and headers that say so."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        self.status = status
        self.headers = dict(headers or {})
        super().__init__(sentence)
