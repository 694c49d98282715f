"""What the routes of access take and answer, as OpenAPI shows it."""

from __future__ import annotations

from typing import Any, Literal
from urllib.parse import urlencode

from fastapi import Request
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, SecretStr

from modeldyno.core.types import Frozen
from modeldyno.web.access import passwords, tokens
from modeldyno.web.access.roles import How, Role
from modeldyno.web.access.users import NAME_PATTERN
from modeldyno.web.problems import documented

Responses = dict[int | str, dict[str, Any]]


def refusals(**reasons: str) -> Responses:
    """For `responses=`: `refusals(s404="No such token.")`."""
    told = {int(name[1:]): text for name, text in reasons.items()}
    return {status: {**answer, "description": told[int(status)]} for status, answer in documented(*told).items()}


DENIED = refusals(
    s401="Nobody has logged in, or the token is wrong or has ended.",
    s403="The role is too low, the CSRF token is missing or wrong, or the request comes from another site.",
)
"""What every guarded route may answer."""
UNREADABLE = refusals(s400="The body cannot be read.")
WRONG = refusals(s422="A value is not as described.")


class Shown(BaseModel):
    """Made of what the book gives."""

    model_config = ConfigDict(frozen=True, from_attributes=True)


class Me(Shown):
    """Who the request comes from."""

    name: str
    role: Role
    how: How
    csrf: str | None
    """For the header X-CSRF-Token of unsafe requests; only with a session."""


class ShownToken(Shown):
    """A token without its secret."""

    token_id: str
    name: str
    scope: Role
    created_at: AwareDatetime
    expires_at: AwareDatetime
    last_used_at: AwareDatetime | None


class NewToken(Frozen):
    """What a token is to be."""

    name: str = Field(min_length=1, max_length=tokens.NAME_LONGEST, pattern=r"^[ -~]+$")
    scope: Role = Role.VIEWER
    expires_days: int = Field(default=tokens.USUAL.days, ge=1, le=tokens.LONGEST.days)


class MadeToken(ShownToken):
    """A new token; its text is shown this once."""

    token: str


class ShownUser(Shown):
    """Somebody who can log in."""

    name: str
    role: Role
    created_at: AwareDatetime


class NewUser(Frozen):
    """Who is to be able to log in."""

    name: str = Field(pattern=NAME_PATTERN)
    role: Role
    password: SecretStr = Field(min_length=passwords.SHORTEST, max_length=passwords.LONGEST)


class ShownNote(Shown):
    """One line of the audit log."""

    at: AwareDatetime
    who: str
    action: str
    target: str
    outcome: str
    address: str


def log_in_address(next: str, failed: Literal["1", "throttled", "link"] | None = None, wait: str | None = None) -> str:
    """The page to log in, and where to go from there."""
    told = {"failed": failed, "wait": wait, "next": next}
    return "/login?" + urlencode({name: text for name, text in told.items() if text is not None})


def wants_page(request: Request) -> bool:
    return "text/html" in request.headers.get("accept", "")
