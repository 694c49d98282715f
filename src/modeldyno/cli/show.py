"""`dyno show`: the records of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store
from modeldyno.core.spoken import comma_list

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.core.types import Passport, Record


@choosing()
def show(
    run: Annotated[str, typer.Argument(help="A run's id or its beginning, `latest`, or `all` runs.")] = "latest",
    choice: Choice = Choice(),
    metric: Annotated[str | None, typer.Option(help="Columns to show, e.g. latency_ms,energy_j.")] = None,
    limit: Annotated[int, typer.Option(min=0, help="At most so many, the newest; 0 for all.")] = 500,
    profile: Annotated[bool, typer.Option("--profile", help="Show kernels, operators or layers by time.")] = False,
    passport: Annotated[bool, typer.Option("--passport", help="Show all that decides how far to trust it.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Show the workers' last words.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show the records of a run, or of all runs."""
    from modeldyno.cli import _tables
    from modeldyno.cli._columns import by_columns
    from modeldyno.core.types import Status

    opened = open_store(store)
    run_id = () if run == "all" else (opened.find_run(run).run_id,)
    found = opened.records(choice.filter(run_id), None if json or not limit else limit + 1)
    records = found if json or not limit else found[-limit:]
    tables = by_columns([record for record in records if record.status is Status.OK], comma_list(metric))
    if json:
        print_json({"records": [record.model_dump(mode="json") for record in records]})
        return
    problems = [record for record in records if record.status is not Status.OK]
    for columns, group in tables.items():
        if group:
            print_table(_tables.record_table(group, columns))
    if problems:
        print_table(_tables.problem_table(problems))
    if not records:
        print_line(
            "No record matches." if run == "all" else "No record of this run matches; dyno show all looks at all."
        )
    elif len(records) < len(found):
        print_note(f"Only the newest {limit} are shown; --limit 0 shows all.")
    _details(records, profile, passport, log)


def _details(records: list[Record], profile: bool, passport: bool, log: bool) -> None:
    for record in records:
        if profile and record.profile:
            print_table(_profile_table(record))
        if passport and record.passport:
            print_table(_passport_table(record, record.passport))
        if log and record.log:
            print_line(f"Log of {record.case.label}:\n{record.log}")


def _profile_table(record: Record) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table(f"Profile of {record.case.label}", ["name", "kind", "calls", "ms per step", "share"])
    for row in record.profile:
        table.add_row(row.name, row.kind or "-", str(row.calls), f"{row.time_ms:.4f}", f"{row.share:.1%}")
    return table


def _passport_table(record: Record, passport: Passport) -> Table:
    from modeldyno.cli._tables import new_table

    title = f"Passport of {record.case.label}: {passport.verdict.value}"
    table = new_table(title, ["check", "value", "limit", "verdict", "what to do"])
    for check in passport.checks:
        limit = "-" if check.limit is None else str(check.limit)
        table.add_row(check.name, str(check.value), limit, check.verdict.value, check.advice or "-")
    return table
