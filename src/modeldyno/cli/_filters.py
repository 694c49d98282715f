"""Options that choose records, as a filter."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import Command, bundle
from modeldyno.core.spoken import FILTERS

if TYPE_CHECKING:
    from modeldyno.store.query import Filter


@dataclass(frozen=True)
class Choice:
    """What the options that choose records say, in the user's words."""

    words: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def of(cls, **given: str | None) -> Choice:
        return cls({name: text for name, text in given.items() if text is not None})

    def but(self, **other: str | None) -> Choice:
        """The same with other words for these; None takes one away."""
        return Choice.of(**{**self.words, **other})

    def filter(self, run_id: tuple[str, ...] = ()) -> Filter:
        from modeldyno.store.words import filter_of

        return filter_of(self.words, run_id)

    def real(self) -> Filter:
        """Measured or imported, unless the user says otherwise."""
        from modeldyno.store.words import real

        return real(self.filter())

    def real_and_ok(self) -> Filter:
        """Of these the ok ones."""
        from modeldyno.core.types import Status

        return replace(self.real(), status=(Status.OK,))


def choosing(*without: str) -> Callable[[Command], Command]:
    """Gives a command the options that choose records, as its parameter `choice`; but for those it has no use for."""
    names = [name for name in FILTERS if name not in without]
    options = {name: (Annotated[str | None, typer.Option(f"--{name}", help=FILTERS[name])], None) for name in names}
    return bundle("choice", options, Choice.of)
