"""`dyno users audit`: who did what on the server."""

from __future__ import annotations

from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli.users._book import as_json, moment_text, open_book


def audit(
    limit: Annotated[int, typer.Option(min=1, max=100_000, help="So many, the newest first.")] = 50,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show log-ins, and who changed users, tokens and results."""
    from modeldyno.cli._tables import new_table

    book = open_book(store)
    notes = book.audit.newest(limit)
    if json:
        print_json({"file": str(book.path), "audit": [as_json(note) for note in notes]})
    elif notes:
        table = new_table("Audit log", ["at", "who", "action", "target", "outcome", "address"])
        for note in notes:
            table.add_row(moment_text(note.at), note.who, note.action, note.target, note.outcome, note.address)
        print_table(table)
    else:
        print_line("Nothing has happened yet; the server and dyno users write here.")
