"""`dyno db`: work on the store itself."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_warning

app = typer.Typer(help="Work on the store itself.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Work on the store itself."""


@app.command("import")
def import_files(
    paths: Annotated[list[Path], typer.Argument(help="Files written by dyno run --output.")],
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Add the runs and records of files that dyno run --output wrote, here or on another machine."""
    from modeldyno.core.errors import InputError
    from modeldyno.store.spool import read_spool
    from modeldyno.store.store import Store

    for path in paths:
        if not path.is_file():
            raise InputError(f"There is no file {path}; check the path.")
    opened = Store.at(store)
    runs = records = 0
    for path in paths:
        found = read_spool(path)
        for number, reason in found.torn:
            print_warning(f"{path}, line {number}: {reason}; the line was left out.")
        report = opened.add(found.items)
        runs, records = runs + report.runs, records + report.records
    if json:
        print_json({"runs": runs, "records": records})
    else:
        print_line(f"Imported {records} new records of {runs} runs into {opened.path}.")
