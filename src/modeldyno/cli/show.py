"""`dyno show`: the records of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption, comma_list
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.core.types import Passport, Record, Status


def show(
    run: Annotated[str, typer.Argument(help="A run's id or its beginning, `latest`, or `all` runs.")] = "latest",
    status: Annotated[str | None, typer.Option(help="Only ok, skipped, failed, invalid.")] = None,
    model: Annotated[str | None, typer.Option(help="Only these models.")] = None,
    on: Annotated[str | None, typer.Option("--on", help="Only these platforms.")] = None,
    metric: Annotated[str | None, typer.Option(help="Columns to show, e.g. latency_ms,energy_j.")] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Show kernels, operators or layers by time.")] = False,
    passport: Annotated[bool, typer.Option("--passport", help="Show all that decides how far to trust it.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Show the workers' last words.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show the records of a run, or of all runs."""
    from modeldyno.cli import _tables
    from modeldyno.core import metrics
    from modeldyno.core.types import Status
    from modeldyno.store.query import Filter

    columns = [metrics.metric(name).name for name in comma_list(metric)] or list(_tables.DEFAULT_METRICS)
    opened = open_store(store)
    chosen = Filter(
        run_id=() if run == "all" else (opened.find_run(run).run_id,),
        model=tuple(comma_list(model)),
        platform=tuple(comma_list(on)),
        status=tuple(_status(name) for name in comma_list(status)),
    )
    records = opened.records(chosen)
    if json:
        print_json({"records": [record.model_dump(mode="json") for record in records]})
        return
    measured = [record for record in records if record.status is Status.OK]
    problems = [record for record in records if record.status is not Status.OK]
    if measured:
        print_table(_tables.record_table(measured, columns))
    if problems:
        print_table(_tables.problem_table(problems))
    if not records:
        print_line("No record matches.")
    _details(records, profile, passport, log)


def _status(name: str) -> Status:
    from modeldyno.core.errors import UnknownName
    from modeldyno.core.types import Status

    try:
        return Status(name)
    except ValueError:
        raise UnknownName("status", name, list(Status)) from None


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
