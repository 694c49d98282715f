"""The options by which a report is ordered, and the order that they make."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._filters import Choice
from modeldyno.cli._print import print_json, print_line, print_warning

if TYPE_CHECKING:
    from modeldyno.reports.order import Order

SubjectArgument = Annotated[
    str | None, typer.Argument(help="The model, or the run (latest, an id), that the report is about.")
]
FormatOption = Annotated[str, typer.Option("--format", help="html, md, pdf, json, csv; several with commas.")]
OutputOption = Annotated[Path, typer.Option("--output", help="A file, or a folder for files named like the kind.")]
TitleOption = Annotated[str | None, typer.Option("--title", help="In place of the template's own.")]
TemplatesOption = Annotated[
    Path | None,
    typer.Option("--templates", envvar="DYNO_TEMPLATES", help="A folder with templates of your own."),
]
UtcOption = Annotated[bool, typer.Option("--utc", help="The hours of --every are UTC, not this machine's.")]
MailOption = Annotated[str | None, typer.Option("--mail", help="Send it to these addresses too; several with commas.")]


def make_order(
    kind: str, subject: str | None, choice: Choice, format: str, output: Path, title: str | None, templates: Path | None
) -> Order:
    """What the options ask for."""
    from modeldyno.core.errors import InputError
    from modeldyno.core.spoken import comma_list
    from modeldyno.reports.order import Order
    from modeldyno.store.store import Store

    order = Order(
        kind=kind,
        subject=subject,
        words=dict(choice.words),
        formats=tuple(comma_list(format)),
        output=output,
        title=title,
        templates=templates,
    )
    try:
        order.command(Store.at(None)).encode()
    except UnicodeEncodeError:  # bytes that are no text reach a program as letters that no file takes
        raise InputError("A word of the command, or a folder's name, is no text; write it in UTF-8.") from None
    return order


def schedule(order: Order, every: str, utc: bool, mail: str | None, json: bool, store: str | None) -> None:
    """Put the order on the schedule, and say when it is due."""
    from datetime import UTC, datetime

    from modeldyno.cli.schedule._words import entry_json, moment_text
    from modeldyno.core.spoken import comma_list
    from modeldyno.reports.order import check
    from modeldyno.reports.schedule import Schedule
    from modeldyno.store.store import Store

    check(order)
    now = datetime.now(UTC)
    entry = Schedule(Store.at(store).path).add(order.lasting(), every, utc, tuple(comma_list(mail)), now)
    if entry.mail and not os.environ.get("DYNO_SMTP"):
        print_warning("DYNO_SMTP is not set here; set it where dyno schedule run is started, or no mail can be sent.")
    if json:
        print_json(entry_json(entry, now))
        return
    print_line(f"Added {entry.id}; it is first due on {moment_text(entry.next(now), entry)}.")
    print_line("Something has to run it: dyno schedule run, or see dyno schedule show --crontab or --systemd.")
