"""Opens the store for a command."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldyno.cli._print import print_warning

if TYPE_CHECKING:
    from modeldyno.store.store import Store


def open_store(option: str | None) -> Store:
    """The store that is meant, with what waited in its spool brought in; says so when something had to be mended."""
    from modeldyno.store.store import Store

    store = Store.at(option)
    for sentence in store.fold().torn:
        print_warning(sentence)
    return store
