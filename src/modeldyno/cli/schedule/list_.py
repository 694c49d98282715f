"""`dyno schedule list`: what is on the schedule, and how it went the last time."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table

if TYPE_CHECKING:
    from datetime import datetime

    from rich.table import Table

    from modeldyno.reports.schedule import Entry


def list_(json: JsonOption = False, store: StoreOption = None) -> None:
    """List the scheduled reports: when each is due, and how the last one ended."""
    from datetime import UTC, datetime

    from modeldyno.cli.schedule._words import entry_json
    from modeldyno.reports.schedule import Schedule
    from modeldyno.store.store import Store

    schedule, now = Schedule(Store.at(store).path), datetime.now(UTC)
    entries = schedule.entries()
    if json:
        print_json({"schedule": str(schedule.path), "entries": [entry_json(entry, now) for entry in entries]})
    elif entries:
        print_table(_table(entries, now))
        for entry in entries:
            if entry.last and entry.last.error:
                print_line(f"{entry.id} failed: {entry.last.error}")
    else:
        print_line('Nothing is scheduled; add a report with: dyno schedule add performance --every "0 6 * * 1"')


def _table(entries: tuple[Entry, ...], now: datetime) -> Table:
    from modeldyno.cli._tables import new_table
    from modeldyno.cli.schedule._words import last_text, moment_text

    table = new_table("Scheduled reports", ["id", "report", "to", "every", "next", "last", "result"])
    table.columns[0].no_wrap = table.columns[3].no_wrap = True
    for entry in entries:
        report = " ".join(filter(None, (entry.order.kind, entry.order.subject)))
        formats = ",".join(entry.order.formats)
        to = ", ".join([str(entry.order.output), *entry.mail])
        due = "now" if entry.due(now) else moment_text(entry.next(now), entry)
        table.add_row(entry.id, f"{report} as {formats}", to, entry.every, due, *last_text(entry))
    return table
