"""`dyno db export`: the store, or a part of it, in files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption, comma_list
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import open_store


def export(
    target: Annotated[Path, typer.Argument(help="A new file, or for Parquet a new folder.")],
    format_name: Annotated[
        str, typer.Option("--format", help="parquet and json can be imported again; csv is the view `results`.")
    ] = "parquet",
    model: Annotated[str | None, typer.Option(help="Only these models.")] = None,
    on: Annotated[str | None, typer.Option("--on", help="Only these platforms.")] = None,
    since: Annotated[str | None, typer.Option(help="Only from this moment on: 2026-11-15, or 7d ago.")] = None,
    until: Annotated[str | None, typer.Option(help="Only before this moment.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write the store, or a part of it, to files that others can read and `dyno db import` takes back whole."""
    from modeldyno.cli.db._time import moment
    from modeldyno.store.export import export as write
    from modeldyno.store.query import Filter

    chosen = Filter(
        model=tuple(comma_list(model)), platform=tuple(comma_list(on)), since=moment(since), until=moment(until)
    )
    done = write(open_store(store).existing(), target, format_name, chosen)
    if json:
        print_json({"target": str(done.target), "format": format_name, "counts": dict(done.counts)})
        return
    counts = ", ".join(f"{number} {kind}s" for kind, number in sorted(done.counts.items())) or "nothing"
    print_line(f"Wrote {counts} to {done.target}.")
