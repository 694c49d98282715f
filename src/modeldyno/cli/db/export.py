"""`dyno db export`: the store, or a part of it, in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import open_store


@choosing("family", "runtime", "precision", "batch", "workload", "status", "provenance")
def export(
    target: Annotated[Path, typer.Argument(help="A new file, or for Parquet a new folder.")],
    format_name: Annotated[
        str, typer.Option("--format", help="parquet and json can be imported again; csv is the view `results`.")
    ] = "parquet",
    choice: Choice = Choice(),
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write the store, or a part of it, to files that others can read and `dyno db import` takes back whole."""
    from modeldyno.store.export import export as write

    chosen = choice.filter()
    done = write(open_store(store).existing(), target, format_name, chosen)
    if json:
        print_json({"target": str(done.target), "format": format_name, "counts": dict(done.counts)})
        return
    counts = ", ".join(f"{number} {kind}s" for kind, number in sorted(done.counts.items())) or "nothing"
    print_line(f"Wrote {counts} to {done.target}.")
