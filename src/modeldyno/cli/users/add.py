"""`dyno users add`: one more who can log in."""

from __future__ import annotations

from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli.users._book import NameArgument, as_json, caller, open_book, role_of
from modeldyno.cli.users._password import ask_password


def add(
    name: NameArgument,
    role: Annotated[str, typer.Option(help="viewer reads, runner also runs, admin also deletes and manages users.")],
    password_stdin: Annotated[
        bool, typer.Option("--password-stdin", help="The password is the first line of stdin.")
    ] = False,
    change: Annotated[
        bool, typer.Option("--change", help="Give a user that exists another role and password; ends all sessions.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Add a user of the server; asks for the password twice."""
    book, wanted = open_book(store), role_of(role)
    if change:
        book.users.get(name)
        user = book.users.change(name, wanted, ask_password(name, password_stdin))
    else:
        book.users.check_new(name)
        user = book.users.add(name, wanted, ask_password(name, password_stdin))
    book.note(caller(), "change user" if change else "add user", f"{user.name} {user.role}")
    if json:
        print_json({"user": as_json(user)})
    else:
        print_line(f"{user.name} can log in as {user.role}; kept in {book.path}.")
