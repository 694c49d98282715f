"""`dyno db purge`: old results into an archive and out of the store."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import confirm, counts_text, open_store


def purge(
    older_than: Annotated[str, typer.Option(help="What is older goes: 90d, 26w, 12h.")],
    archive: Annotated[
        Path | None, typer.Option(help="Folder for the Parquet of what goes; default: one beside the store.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would go, and stop.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write old records, tests and their runs to Parquet, verify it, then remove them from the store."""
    from modeldyno.core.spoken import ago, stamp
    from modeldyno.store.purge import purge as remove
    from modeldyno.store.purge import would_purge

    before = ago(older_than)
    path = open_store(store).existing()
    counts = would_purge(path, before)
    target = (archive or path.with_name(path.name + ".archive")) / f"purged-{stamp()}"
    if dry_run or not counts.total():
        _report(counts, None, json)
        return
    confirm(f"{counts_text(counts)} will go to {target} and be removed from {path}. Go on?", yes)
    done = remove(path, before, target)
    _report(done.counts, done.archive, json)


def _report(counts: Counter[str], archive: Path | None, json: bool) -> None:
    if json:
        place = str(archive) if archive else None
        print_json({"removed" if archive else "would_remove": dict(counts), "archive": place})
    elif archive:
        print_line(f"{counts_text(counts)} went to {archive}.")
    else:
        print_line(f"{counts_text(counts)} are old enough to go.")
