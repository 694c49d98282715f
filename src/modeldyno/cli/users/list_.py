"""`dyno users list`: who can log in."""

from __future__ import annotations

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli.users._book import as_json, moment_text, open_book


def list_(json: JsonOption = False, store: StoreOption = None) -> None:
    """List the users of the server."""
    from modeldyno.cli._tables import new_table

    book = open_book(store)
    users = book.users.all()
    if json:
        print_json({"file": str(book.path), "users": [as_json(user) for user in users]})
    elif users:
        table = new_table("Users", ["name", "role", "added", "tokens"])
        for user in users:
            table.add_row(user.name, user.role, moment_text(user.created_at), str(len(book.tokens.of(user.name))))
        print_table(table)
    else:
        print_line("There are no users; add one with: dyno users add NAME --role admin")
