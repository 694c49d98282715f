"""`dyno db check`: is the store sound?"""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table


def check(
    repair: Annotated[bool, typer.Option("--repair", help="Remove what interrupted commands left half written.")] = (
        False
    ),
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Read every row, look for contradictions, orphans and duplicates; exit 1 when something is wrong."""
    from modeldyno.cli._tables import new_table
    from modeldyno.store.check import check as look
    from modeldyno.store.store import Store

    opened = Store.at(store)
    findings = look(opened, repair)
    wrong = any(finding.wrong for finding in findings)
    if json:
        print_json({"store": str(opened.path), "sound": not wrong, "findings": [asdict(f) for f in findings]})
    else:
        table = new_table("Findings", ["check", "kind", "what", "what to do"])
        for finding in findings:
            table.add_row(finding.check, "wrong" if finding.wrong else "note", finding.text, finding.remedy)
        if findings:
            print_table(table)
        print_line(f"The store {opened.path} is {'not ' if wrong else ''}sound.")
    if wrong:
        raise typer.Exit(1)
