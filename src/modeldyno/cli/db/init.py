"""`dyno db init`: make the store."""

from __future__ import annotations

from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line
from modeldyno.cli._store import open_store


def init(
    sample_data: Annotated[
        bool, typer.Option("--sample-data", help="Fill it with made-up records, marked as simulated.")
    ] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Make the store. Not needed before a run: every command that writes makes it on first use."""
    from modeldyno.store.maintenance import init as make

    opened = open_store(store)
    records = make(opened, sample_data)
    if json:
        print_json({"store": str(opened.path), "records": records, "sample_data": sample_data})
        return
    what = "simulated sample records" if sample_data else "records"
    print_line(f"The store {opened.path} is ready, with {records} {what}.")
