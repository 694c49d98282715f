"""The records that an analysis looks at."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._print import print_note

if TYPE_CHECKING:
    from modeldyno.core.types import Record
    from modeldyno.store.query import Filter
    from modeldyno.store.store import Store

LimitOption = Annotated[int, typer.Option("--limit", min=0, help="Look at so many series, the newest; 0 for all.")]


def newest_records(opened: Store, chosen: Filter, limit: int, per_run: bool = False) -> list[Record]:
    """The newest record of each series, of each run where runs are compared, oldest first; says so where there are more
    than looked at."""
    found = opened.newest_records(chosen, per_run, limit + 1 if limit else None)
    if not limit or len(found) <= limit:
        return found
    print_note(f"Only the newest {limit} series are looked at; narrow the question, or give --limit 0.")
    return found[-limit:]
