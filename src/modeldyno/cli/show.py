"""`dyno show`: the records of a run."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption, comma_list
from modeldyno.cli._print import print_json, print_line, print_table, print_warning

if TYPE_CHECKING:
    from modeldyno.core.types import Record, Status
    from modeldyno.store.store import Store


def show(
    run: Annotated[str, typer.Argument(help="A run's id or its beginning, `latest`, or `all` runs.")] = "latest",
    status: Annotated[str | None, typer.Option(help="Only ok, skipped, failed, invalid.")] = None,
    model: Annotated[str | None, typer.Option(help="Only these models.")] = None,
    on: Annotated[str | None, typer.Option("--on", help="Only these platforms.")] = None,
    metric: Annotated[str | None, typer.Option(help="Columns to show, e.g. latency_ms,energy_j.")] = None,
    profile: Annotated[bool, typer.Option("--profile", help="Show kernels, operators or layers by time.")] = False,
    log: Annotated[bool, typer.Option("--log", help="Show the workers' last words.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show the records of a run, or of all runs."""
    from modeldyno.cli import _tables
    from modeldyno.core import metrics
    from modeldyno.core.types import Status
    from modeldyno.store.store import Filter, Store

    columns = [metrics.metric(name).name for name in comma_list(metric)] or list(_tables.DEFAULT_METRICS)
    opened = Store.at(store)
    fold(opened)
    chosen = Filter(
        run_id=None if run == "all" else opened.find_run(run).run_id,
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
    _details(records, profile, log)


def fold(store: Store) -> None:
    """Bring waiting records into the database, and say so when something had to be mended."""
    report = store.fold()
    for sentence in report.torn:
        print_warning(sentence)


def _status(name: str) -> Status:
    from modeldyno.core.errors import UnknownName
    from modeldyno.core.types import Status

    try:
        return Status(name)
    except ValueError:
        raise UnknownName("status", name, list(Status)) from None


def _details(records: list[Record], profile: bool, log: bool) -> None:
    from modeldyno.cli._tables import new_table

    for record in records:
        if profile and record.profile:
            table = new_table(f"Profile of {record.case.label}", ["name", "kind", "calls", "ms per step", "share"])
            for row in record.profile:
                cells = (row.name, row.kind or "-", str(row.calls), f"{row.time_ms:.4f}", f"{row.share:.1%}")
                table.add_row(*cells)
            print_table(table)
        if log and record.log:
            print_line(f"Log of {record.case.label}:\n{record.log}")
