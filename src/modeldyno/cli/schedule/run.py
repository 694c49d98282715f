"""`dyno schedule run`: makes the reports when they are due, as a service, or once for cron and systemd."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_error, print_json, print_line, print_note

if TYPE_CHECKING:
    from modeldyno.cli.schedule._work import Outcome
    from modeldyno.reports.schedule import Schedule

LOOK_EVERY_S = 60.0
"""So that reports that were added and clocks that were set are seen soon."""


def run(
    ids: Annotated[list[str] | None, typer.Argument(metavar="[ID]...", help="Only these; default: all.")] = None,
    once: Annotated[bool, typer.Option("--once", help="Do what is due and end; 1 if a report failed.")] = False,
    now: Annotated[bool, typer.Option("--now", help="Do these at once, due or not, and end; to try them.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Wait for reports to be due and make them, until Ctrl-C; what was missed meanwhile is caught up once."""
    from modeldyno.core.errors import InputError
    from modeldyno.reports.schedule import Schedule
    from modeldyno.store.store import Store

    chosen = Schedule(Store.at(store).path.absolute())
    for id in ids or ():
        chosen.entry(id)
    if once or now:
        _once(chosen, ids or [], now, json)
    elif json:
        raise InputError("A runner that never ends has no one answer; give --once with --json.")
    else:
        _forever(chosen, ids or [])


def _once(schedule: Schedule, ids: list[str], now: bool, json: bool) -> None:
    from modeldyno.cli.schedule._work import work_off

    outcomes = []
    for outcome in work_off(schedule, ids, at_once=now):
        outcomes.append(outcome)
        if outcome.error or not json:
            _tell(outcome)
    if json:
        print_json({"reports": [outcome.as_json() for outcome in outcomes]})
    if any(outcome.error for outcome in outcomes):
        raise typer.Exit(1)


def _tell(outcome: Outcome) -> None:
    (print_error if outcome.error else print_line)(outcome.sentence)


def _forever(schedule: Schedule, ids: list[str]) -> None:
    print_note(f"Looking after {schedule.path}; Ctrl-C ends it.")
    try:
        while True:
            _round(schedule, ids)
            time.sleep(_pause(schedule))
    except KeyboardInterrupt:
        print_note("The scheduler has ended; what comes due until it is started again will be caught up once.")


def _round(schedule: Schedule, ids: list[str]) -> None:
    """What goes wrong with the schedule itself, such as a disk that is away, may be mended in a minute."""
    from modeldyno.cli.schedule._work import work_off
    from modeldyno.core.errors import DynoError

    try:
        for outcome in work_off(schedule, ids):
            print_note(outcome.sentence)
    except DynoError as error:
        print_error(str(error))


def _pause(schedule: Schedule) -> float:
    """Until the next is due, and never long."""
    from datetime import UTC, datetime

    from modeldyno.core.errors import DynoError

    now = datetime.now(UTC)
    try:
        until_next = [(entry.next(now) - now).total_seconds() for entry in schedule.entries()]
    except DynoError:
        until_next = []
    return max(0.01, min([LOOK_EVERY_S, *until_next]))
