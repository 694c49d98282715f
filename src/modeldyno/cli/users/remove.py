"""`dyno users remove`: one less who can log in."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli.users._book import NameArgument, as_json, caller, open_book


def remove(
    name: NameArgument,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Remove a user; sessions and tokens stop working at once."""
    book = open_book(store)
    user = book.users.get(name)
    _confirm(f"{user.name} ({user.role}) will be removed with {len(book.tokens.of(name))} tokens. Go on?", yes)
    gone = book.users.remove(name)
    book.note(caller(), "remove user", gone.name)
    if json:
        print_json({"removed": as_json(gone)})
    else:
        print_line(f"Removed {gone.name}.")


def _confirm(question: str, yes: bool) -> None:
    from modeldyno.core.errors import InputError

    if yes:
        return
    if not sys.stdin.isatty():
        raise InputError("Nobody is there to be asked whether to remove the user; give --yes.")
    if not typer.confirm(question, err=True):
        raise InputError("Nobody was removed; give --yes to go on without being asked.")
