"""`dyno schedule show`: the schedule as lines for cron or units for systemd."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line

if TYPE_CHECKING:
    from pathlib import Path

    from modeldyno.reports.schedule import Entry


def show(
    id: Annotated[str | None, typer.Argument(help="Only this one; default: all.")] = None,
    crontab: Annotated[bool, typer.Option("--crontab", help="A line each for crontab -e.")] = False,
    systemd: Annotated[bool, typer.Option("--systemd", help="A service and a timer each.")] = False,
    service: Annotated[bool, typer.Option("--service", help="One systemd service that does them all.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Print what makes cron or systemd do the scheduled reports, in place of dyno schedule run."""
    from modeldyno.core.errors import InputError
    from modeldyno.reports.schedule import Schedule
    from modeldyno.store.store import Store

    if crontab + systemd + service != 1:
        raise InputError("Say for whom: give one of --crontab, --systemd and --service.")
    path = Store.at(store).path.absolute()
    schedule = Schedule(path)
    entries = (schedule.entry(id),) if id else schedule.entries()
    if not entries:
        raise InputError('Nothing is scheduled; add a report with: dyno schedule add performance --every "0 6 * * 1"')
    if crontab:
        _crontab(entries, path, json)
    else:
        _units(entries, path, service, json)


def _crontab(entries: tuple[Entry, ...], store: Path, json: bool) -> None:
    from modeldyno.cli.schedule._units import crontab_lines

    lines = [line for entry in entries for line in crontab_lines(entry, store)]
    if json:
        print_json({"crontab": lines})
    else:
        print_line("\n".join(lines))


def _units(entries: tuple[Entry, ...], store: Path, service: bool, json: bool) -> None:
    from modeldyno.cli.schedule._units import service_unit, timer_units

    timers = {name: text for entry in entries for name, text in timer_units(entry, store).items()}
    units = service_unit(store, any(entry.mail for entry in entries)) if service else timers
    if json:
        print_json({"units": units})
        return
    for name, text in units.items():
        print_line(f"# ~/.config/systemd/user/{name}\n{text}")
    started = [name for name in units if name.endswith(".timer")] or list(units)
    print_line(f"# then: systemctl --user daemon-reload && systemctl --user enable --now {' '.join(started)}")
