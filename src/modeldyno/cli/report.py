"""`dyno report`: what the store says, as a document for people."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

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
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.reports.order import Delivery, Order
    from modeldyno.store.store import Store


@choosing("status")
def report(
    kind: Annotated[str | None, typer.Argument(help="The kind of report, or a template.yaml; none lists them.")] = None,
    subject: SubjectArgument = None,
    choice: Choice = Choice(),
    format: FormatOption = "html",
    output: OutputOption = Path("report"),
    title: TitleOption = None,
    templates: TemplatesOption = None,
    every: Annotated[
        str | None, typer.Option(help="Not now, but again and again: as dyno schedule add would have it.")
    ] = None,
    utc: UtcOption = False,
    mail: MailOption = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Write a report: what was found in words, tables and charts; alone, list the kinds."""
    if kind is None:
        _list(templates, json)
        return
    order = make_order(kind, subject, choice, format, output, title, templates)
    if every is not None:
        schedule(order, every, utc, mail, json, store)
        return
    addresses = _addresses(mail)
    delivery = _make(order, open_store(store))
    if addresses:
        from modeldyno.reports.mail import mail_report

        mail_report(delivery.document, delivery.files, addresses)
    if json:
        print_json({"files": [str(path) for path in delivery.files]})
        return
    for path in delivery.files:
        print_line(f"Wrote {path}")


def _make(order: Order, opened: Store) -> Delivery:
    """With a line on stderr that says how far it is."""
    from rich.console import Console

    from modeldyno.core.spoken import now
    from modeldyno.reports.order import carry_out

    with Console(stderr=True).status("Reading the store") as status:

        def watch(number: int, total: int, name: str) -> None:
            status.update(f"{number} of {total}: {name}")

        return carry_out(order, opened, now(), watch)


def _addresses(mail: str | None) -> tuple[str, ...]:
    """Where to send it; looked at before any work, and so is the server."""
    from modeldyno.core.spoken import comma_list
    from modeldyno.reports.mail import mail_address, server_of

    addresses = tuple(mail_address(address) for address in comma_list(mail))
    if addresses:
        server_of()
    return addresses


def _list(templates: Path | None, json: bool) -> None:
    from modeldyno.cli._tables import new_table
    from modeldyno.reports.template import kinds, read_template

    found = [read_template(path) for path in kinds(templates).values()]
    if json:
        print_json({"kinds": [{"kind": one.name, "about": one.about, "subject": one.subject} for one in found]})
        return
    table = new_table("Kinds of report", ["kind", "what it tells"])
    for one in found:
        table.add_row(" ".join(filter(None, (one.name, one.subject and one.subject.upper()))), one.about)
    print_table(table)
    print_line("Write one with, for example: dyno report summary --format html --output report")
