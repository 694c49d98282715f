"""The book of users that a command means, and how it is told who writes in it."""

from __future__ import annotations

import getpass
from dataclasses import asdict
from datetime import datetime
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from modeldyno.web.access.book import Book
    from modeldyno.web.access.roles import Role

NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The name of the user.")]


def open_book(store: str | None) -> Book:
    """Beside the store that the user named."""
    from modeldyno.store.store import Store
    from modeldyno.web.access.book import Book

    return Book.beside(Store.at(store).path)


def role_of(text: str) -> Role:
    from modeldyno.core.errors import UnknownName
    from modeldyno.web.access.roles import Role

    if text not in list(Role):
        raise UnknownName("role", text, [role.value for role in Role])
    return Role(text)


def caller() -> str:
    """Who sits at the command line, for the audit log."""
    try:
        return f"cli:{getpass.getuser()}"
    except (KeyError, OSError):  # a container may run as a number that has no name
        return "cli"


def as_json(value: Any) -> dict[str, Any]:
    """A value of the book, moments in ISO 8601."""
    fields = asdict(value)
    return {name: part.isoformat() if isinstance(part, datetime) else part for name, part in fields.items()}


def moment_text(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "-"
