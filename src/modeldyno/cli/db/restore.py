"""`dyno db restore`: put a backup in the store's place."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_warning


def restore(
    file: Annotated[Path, typer.Argument(metavar="BACKUP", help="A file of dyno db backup, or a copy of a store.")],
    force: Annotated[
        bool, typer.Option("--force", help="Also while results wait in the spool; they go into the restored store.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Verify a backup and put it in the store's place; the store that was there is kept beside it."""
    from modeldyno.store.backup import restore as put_back
    from modeldyno.store.store import Store

    opened = Store.at(store)
    done = put_back(opened.path, file, force)
    for sentence in done.folded.torn:
        print_warning(sentence)
    kept = str(done.kept) if done.kept else None
    folded = done.folded.new["record"]
    if json:
        print_json({"store": str(opened.path), "tables": done.counts, "kept": kept, "folded": folded})
        return
    print_line(f"The store {opened.path} is {file} again, with {done.counts['records']} records.")
    if kept:
        print_line(f"What was there before is in {kept}.")
    if folded:
        print_line(f"{folded} records that waited in the spool were added.")
