"""Opens the store for a command, and asks before anything leaves it."""

from __future__ import annotations

import sys
from collections import Counter
from typing import TYPE_CHECKING

import typer

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


def confirm(question: str, yes: bool) -> None:
    """Ask the user, unless --yes was given; a no is an error that says what to do."""
    from modeldyno.core.errors import InputError

    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("Nobody is there to be asked whether to remove results; give --yes, or look with --dry-run.")
    if not typer.confirm(question, err=True):
        raise InputError("Nothing was removed; give --dry-run to see what would be.")


def counts_text(counts: Counter[str]) -> str:
    return ", ".join(f"{number} {kind}s" for kind, number in counts.items())
