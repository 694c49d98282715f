"""The schedule in the words of cron and systemd, for those who have one of them running anyway."""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError

if TYPE_CHECKING:
    from pathlib import Path

    from cronsim import CronSim

    from modeldyno.reports.schedule import Entry

EACH_MINUTE = "* * * * *"
MAIL_FILE = "%h/.config/modeldyno/mail.env"
_WEEKDAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")
_MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
_NAMES = {3: dict(enumerate(_MONTHS, start=1)), 4: dict(enumerate(name.upper() for name in _WEEKDAYS))}
_LARGEST = (59, 23, 31, 12, 7)
_LAST_DAY = -1000  # as CronSim keeps it
_UNIT_ESCAPES = {"\\": "\\\\", '"': '\\"', "%": "%%", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def run_command(store: Path, *words: str) -> list[str]:
    """The command that makes what is due, from whatever folder and with whatever PATH."""
    return [sys.executable, "-m", "modeldyno", "schedule", "run", *words, "--store", str(store)]


def crontab_lines(entry: Entry, store: Path) -> list[str]:
    """Lines for the crontab, and before them what has to be known."""
    command = shlex.join(run_command(store, entry.id, "--once")).replace("%", "\\%")
    if any(not letter.isprintable() for letter in command):
        raise InputError("Cron cannot call a path with control characters in it; move the store, or use --systemd.")
    fields = None if entry.utc else _plain_fields(entry.every)
    notes = [f"# {entry.id}: {entry.every}{' UTC' if entry.utc else ''}"]
    if not fields:
        notes.append("# cron does not know such moments: it asks each minute whether one has come")
    if entry.mail:
        notes.append("# it sends mail: set DYNO_SMTP and DYNO_MAIL_FROM in lines above this one")
    missed = [f"@reboot {command}"] if fields else []  # what came due while the machine was off
    return [*notes, *missed, f"{fields or EACH_MINUTE} {command}"]


def _plain_fields(every: str) -> str | None:
    """In words that every cron knows: no names, which some take only alone, and no `5/15`; None for the last Friday."""
    fields = every.upper().split()
    for place, names in _NAMES.items():
        for number, name in names.items():
            fields[place] = fields[place].replace(name, str(number))
    if re.search("[A-Z#]", "".join(fields)):
        return None
    return " ".join(_plain_steps(field, last) for field, last in zip(fields, _LARGEST, strict=True))


def _plain_steps(field: str, last: int) -> str:
    return ",".join(re.sub(r"^(\d+)/", rf"\1-{last}/", term) for term in field.split(","))


def timer_units(entry: Entry, store: Path) -> dict[str, str]:
    """The service that makes the report and the timer that starts it, by the names of their files."""
    moments = calendar_moments(entry) or ["*-*-* *:*:00"]
    about = f"modeldyno report {entry.id}"
    timer = ["[Unit]", f"Description={about}, timer", "", "[Timer]", *(f"OnCalendar={moment}" for moment in moments)]
    timer += ["Persistent=true", "", "[Install]", "WantedBy=timers.target"]
    service = ["[Unit]", f"Description={about}", "", "[Service]", "Type=oneshot"]
    service += [*_environment(bool(entry.mail)), f"ExecStart={_exec(run_command(store, entry.id, '--once'))}"]
    return {f"dyno-{entry.id}.service": _text(service), f"dyno-{entry.id}.timer": _text(timer)}


def service_unit(store: Path, mail: bool) -> dict[str, str]:
    """The runner of the whole schedule as a service."""
    lines = ["[Unit]", "Description=modeldyno scheduled reports", "", "[Service]", *_environment(mail)]
    lines += [f"ExecStart={_exec(run_command(store))}", "Restart=on-failure", "RestartSec=60", ""]
    return {"dyno-schedule.service": _text([*lines, "[Install]", "WantedBy=default.target"])}


def _environment(mail: bool) -> list[str]:
    return [f"EnvironmentFile={MAIL_FILE}"] if mail else []


def _text(lines: Sequence[str]) -> str:
    return "\n".join(lines) + "\n"


def _exec(command: Sequence[str]) -> str:
    """Quoted as systemd reads it: in arguments it would also put variables in place of $NAME."""
    program, *arguments = command
    return " ".join([_quoted(program), *(_quoted(argument).replace("$", "$$") for argument in arguments)])


def _quoted(text: str) -> str:
    return '"' + "".join(_UNIT_ESCAPES.get(letter, letter) for letter in text) + '"'


def calendar_moments(entry: Entry) -> list[str]:
    """The expression as OnCalendar has it; nothing where systemd has no words for it."""
    from datetime import UTC, datetime

    from cronsim import CronSim

    parsed = CronSim(entry.every, datetime(2000, 1, 1, tzinfo=UTC))
    days, weekdays = _days(parsed), _weekday_names(parsed)
    if days is None or weekdays is None:
        return []
    clock = f"{_numbers(parsed.hours, 0, 23)}:{_numbers(parsed.minutes, 0, 59)}:00"
    months = _numbers(parsed.months, 1, 12)
    # Cron takes a day that fits either of two restrictions, systemd one that fits both: that makes two lines.
    either = [(weekdays, days)] if parsed.day_and else [("", days), (weekdays, "-*")]
    zone = "UTC" if entry.utc else ""
    return [" ".join(filter(None, (names, f"*-{months}{day}", clock, zone))) for names, day in either]


def _days(parsed: CronSim) -> str | None:
    """Behind the month: `-01..07`, or `~01` for the last day."""
    if parsed.days == {_LAST_DAY}:
        return "~01"
    return None if min(parsed.days) < 0 else f"-{_numbers(parsed.days, 1, 31)}"


def _weekday_names(parsed: CronSim) -> str | None:
    """Nothing for any day; None where it is the second or the last of its kind in a month."""
    numbers = {day % 7 for day in parsed.weekdays if isinstance(day, int)}
    if any(not isinstance(day, int) for day in parsed.weekdays):
        return None
    return "" if len(numbers) == 7 else ",".join(_WEEKDAYS[day] for day in sorted(numbers))


def _numbers(chosen: Iterable[int], first: int, last: int) -> str:
    """`*`, or the numbers with two digits, as ranges where they follow each other."""
    ordered = sorted(chosen)
    if ordered == list(range(first, last + 1)):
        return "*"
    ranges: list[list[int]] = []
    for number in ordered:
        if ranges and ranges[-1][-1] == number - 1:
            ranges[-1].append(number)
        else:
            ranges.append([number])
    return ",".join(f"{run[0]:02}" if len(run) == 1 else f"{run[0]:02}..{run[-1]:02}" for run in ranges)
