"""`dyno db forget`: take an import back."""

from __future__ import annotations

from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import confirm, counts_text, open_store


def forget(
    name: Annotated[str, typer.Argument(metavar="FILE | ID", help="The file that was imported, or its id.")],
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Remove all that one imported file brought, so that it can be imported anew with other options."""
    from modeldyno.store import forget as back

    opened = open_store(store)
    done = back.find_import(opened, name)
    counts = back.would_forget(opened, done)
    if not dry_run:
        confirm(f"{counts_text(counts)} of {done.file} will be removed from {opened.path}. Go on?", yes)
        counts = back.forget(opened, done)
    if json:
        print_json({"import_id": done.import_id, "file": done.file, "removed": not dry_run, "counts": dict(counts)})
    else:
        print_line(f"{counts_text(counts)} of {done.file} {'would go' if dry_run else 'were removed'}.")
