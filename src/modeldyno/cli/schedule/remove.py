"""`dyno schedule remove`: a report less."""

from __future__ import annotations

from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line


def remove(
    id: Annotated[str, typer.Argument(help="As dyno schedule list shows it.")],
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Take a report off the schedule; what it has written stays."""
    from modeldyno.reports.schedule import Schedule
    from modeldyno.store.store import Store

    gone = Schedule(Store.at(store).path).remove(id)
    if json:
        print_json({"removed": gone.model_dump(mode="json")})
    else:
        print_line(f"Removed {gone.id}; its reports stay in {gone.order.output}.")
