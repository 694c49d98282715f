"""What a page says, before it is HTML, JSON or CSV."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError
from modeldyno.core.registry import Registry
from modeldyno.store.query import Filter
from modeldyno.web.choosing import chosen

if TYPE_CHECKING:
    from modeldyno.store.snapshot import Snapshot
    from modeldyno.web.access.roles import Person
    from modeldyno.web.house import House


class NotThere(InputError):
    """What the address names is not in the store."""

    status = 404


@dataclass(frozen=True)
class Ask:
    """One question: the address, who asks, and what there is to answer from."""

    house: House
    snapshot: Snapshot
    query: Mapping[str, Sequence[str]]
    places: Mapping[str, str] = field(default_factory=dict)
    """The named parts of the path."""
    person: Person | None = None

    def one(self, name: str, usual: str = "") -> str:
        """The first value of a word of the address."""
        return next((text for text in self.query.get(name, ()) if text), usual)

    def many(self, name: str) -> list[str]:
        return [text for text in self.query.get(name, ()) if text]

    def number(self, name: str, usual: int, most: int) -> int:
        text = self.one(name)
        if not text:
            return usual
        if not text.isdecimal() or len(text) > 12 or not 1 <= int(text) <= most:
            raise InputError(f"{name} must be a whole number from 1 to {most}; got '{text[:40]}'.")
        return int(text)

    def choice(self, name: str, known: Sequence[str], usual: str) -> str:
        text = self.one(name, usual)
        if text not in known:
            raise InputError(f"{name} cannot be '{text[:60]}'; known: {', '.join(known)}.")
        return text

    @property
    def chosen(self) -> Filter:
        return chosen(self.query)


@dataclass(frozen=True)
class Sheet:
    """The answer; the template has the page's name."""

    title: str
    data: Mapping[str, Any]
    """For the template, and as JSON but for what begins with an underscore."""
    rows: Sequence[Mapping[str, Any]] = ()
    """The main table, as CSV."""


@dataclass(frozen=True)
class Page:
    """One file of `pages`."""

    path: str
    make: Callable[[Ask], Sheet]
    nav: str | None = None
    """Its name in the menu; None where it is reached from others."""
    place: int = 99
    """In the menu."""
    chosen: Filter | None = None
    """Results without which it is not in the menu."""
    moody: bool = False
    """Whether it tells of regressions, acknowledgements or alerts, which come and go beside the snapshot."""
    live: bool = False
    """Whether it tells more than the snapshot does, so that it is made anew each time."""


PAGES: Registry[Page] = Registry("modeldyno.web.pages", "page")
