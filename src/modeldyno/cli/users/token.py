"""`dyno users token`: tokens with which programs use the server."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli.users._book import NameArgument, as_json, caller, moment_text, open_book, role_of

if TYPE_CHECKING:
    from modeldyno.web.access.book import Book


def token(
    user: NameArgument,
    name: Annotated[str | None, typer.Option(help="What the token is for.")] = None,
    scope: Annotated[str, typer.Option(help="viewer, runner or admin; not above the role of the user.")] = "viewer",
    expires: Annotated[str, typer.Option(metavar="AGE", help="How long it works: 12h, 30d or 8w.")] = "90d",
    listing: Annotated[bool, typer.Option("--list", help="List the user's tokens instead.")] = False,
    revoke: Annotated[str | None, typer.Option(metavar="ID", help="End this token instead.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Make a token for a program and print it, this once; or list or end tokens."""
    from modeldyno.core.errors import InputError

    if sum((listing, revoke is not None, name is not None)) > 1:
        raise InputError("--name makes a token, --list and --revoke make none; give one of the three.")
    book = open_book(store)
    book.users.get(user)
    if listing:
        _list(book, user, json)
    elif revoke is not None:
        _revoke(book, user, revoke, json)
    elif name is not None:
        _make(book, user, name, scope, expires, json)
    else:
        raise InputError("Nobody will know what the token is for; say it with --name, such as --name nightly-ci.")


def _make(book: Book, user: str, name: str, scope: str, expires: str, json: bool) -> None:
    """The token alone on stdout, so that it can go straight into a file or a secret."""
    from modeldyno.core.spoken import age

    made, text = book.tokens.make(user, name, role_of(scope), age(expires))
    book.note(caller(), "make token", f"{made.token_id} {made.scope} of {user}")
    if json:
        print_json({"token": text, **as_json(made)})
        return
    print_line(text)
    print_note(f"It is not shown again, and works until {moment_text(made.expires_at)} as {made.scope}.")
    print_note(f"End it before that with: dyno users token {user} --revoke {made.token_id}")


def _list(book: Book, user: str, json: bool) -> None:
    from modeldyno.cli._tables import new_table

    tokens = book.tokens.of(user)
    if json:
        print_json({"user": user, "tokens": [as_json(token) for token in tokens]})
    elif tokens:
        table = new_table(f"Tokens of {user}", ["id", "name", "scope", "made", "ends", "last used"])
        for token in tokens:
            moments = (token.created_at, token.expires_at, token.last_used_at)
            table.add_row(token.token_id, token.name, token.scope, *map(moment_text, moments))
        print_table(table)
    else:
        print_line(f"{user} has no tokens; make one with: dyno users token {user} --name X --scope viewer")


def _revoke(book: Book, user: str, token_id: str, json: bool) -> None:
    gone = book.tokens.remove(user, token_id)
    book.note(caller(), "remove token", f"{gone.token_id} of {user}")
    if json:
        print_json({"revoked": as_json(gone)})
    else:
        print_line(f"The token {gone.token_id} ({gone.name}) of {user} no longer works.")
