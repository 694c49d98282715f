"""`dyno db backup`: a compressed, verified copy of the store."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import open_store


def backup(
    folder: Annotated[
        Path | None, typer.Argument(metavar="DIR", help="Where to; default: a folder beside the store.")
    ] = None,
    keep: Annotated[int | None, typer.Option(min=1, help="Keep only so many backups of this store.")] = None,
    older_than: Annotated[
        str | None, typer.Option(help="Remove older backups, like 30d; with --keep never the newest so many.")
    ] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Copy, compress and verify the store, also while others write to it; only then may old backups go."""
    from modeldyno.core.spoken import age, size_text
    from modeldyno.store.backup import backup as write

    limit = age(older_than) if older_than else None
    opened = open_store(store)
    path = opened.existing()
    done = write(path, folder or path.with_name(path.name + ".backups"), keep, limit)
    if json:
        removed = [str(file) for file in done.removed]
        print_json({"backup": str(done.file), "bytes": done.size, "tables": done.counts, "removed": removed})
        return
    print_line(f"{done.file} holds {done.counts['records']} records in {size_text(done.size)}; it was read back.")
    for file in done.removed:
        print_line(f"Removed {file}.")
