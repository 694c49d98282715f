"""Opens the store for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldyno.cli._print import print_note, print_warning

if TYPE_CHECKING:
    from modeldyno.store.store import Store


def open_store(option: str | None) -> Store:
    """The store that is meant, with what waited in its spool brought in; says what it found there."""
    from modeldyno.store.store import Store

    store = Store.at(option)
    report = store.fold()
    if waited := sum(report.new[kind] for kind in ("record", "test")):
        print_note(f"{waited} results waited in {store.spool}; they are in the store now.")
    for sentence in report.torn:
        print_warning(sentence)
    return store
