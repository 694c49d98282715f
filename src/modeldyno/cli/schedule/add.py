"""`dyno schedule add`: one more report for the schedule."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._order import (
    FormatOption,
    MailOption,
    OutputOption,
    SubjectArgument,
    TemplatesOption,
    TitleOption,
    UtcOption,
    make_order,
    schedule,
)


@choosing("status")
def add(
    kind: Annotated[str, typer.Argument(help="The kind of report, or a template.yaml; see dyno report.")],
    subject: SubjectArgument = None,
    *,
    every: Annotated[str, typer.Option(help='When, in the five fields of cron: "0 6 * * 1" is Mondays at 6:00.')],
    utc: UtcOption = False,
    mail: MailOption = None,
    choice: Choice = Choice(),
    format: FormatOption = "html",
    output: OutputOption = Path("report"),
    title: TitleOption = None,
    templates: TemplatesOption = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Have a report made again and again; dyno schedule run, or cron, does it when it is due."""
    order = make_order(kind, subject, choice, format, output, title, templates)
    schedule(order, every, utc, mail, json, store)
