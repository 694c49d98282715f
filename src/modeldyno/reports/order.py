"""An order for a report and its delivery to a folder: what `dyno report` does, now or on a schedule."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.spoken import FILTERS
from modeldyno.core.types import Frozen
from modeldyno.reports.assemble import Watch, assemble
from modeldyno.reports.document import Document
from modeldyno.reports.files import make_folder, needing_packages, rendered, targets, write
from modeldyno.reports.material import Material
from modeldyno.reports.sections import SECTIONS
from modeldyno.reports.template import ENDINGS, Template, find_template
from modeldyno.store.query import Filter
from modeldyno.store.store import DEFAULT, Store
from modeldyno.store.words import filter_of, real

MOST_COMMANDS = 5


class Order(Frozen):
    """What is asked for, in the user's words."""

    kind: str
    """Of report, or the path of a template."""
    subject: str | None = None
    """The model or the run, where the kind wants one."""
    words: dict[str, str] = {}
    """Which records, by the option's name."""
    formats: tuple[str, ...] = ("html",)
    output: Path = Path("report")
    title: str | None = None
    templates: Path | None = None

    def command(self, store: Store) -> str:
        """The command that makes the same report."""
        parts = ["dyno", "report", self.kind, *([self.subject] if self.subject else [])]
        for name in FILTERS:
            parts += [f"--{name}", self.words[name]] if name in self.words else []
        parts += ["--format", ",".join(self.formats), "--output", str(self.output)]
        parts += ["--title", self.title] if self.title else []
        parts += ["--templates", str(self.templates)] if self.templates else []
        parts += ["--store", str(store.path)] if store.path != Path(DEFAULT) else []
        return shlex.join(parts)

    def targets(self) -> dict[str, Path]:
        """Where each format goes."""
        kind = Path(self.kind).stem if self.kind.endswith(ENDINGS) else self.kind
        return targets(self.formats, self.output, *filter(None, (kind, self.subject)))

    def lasting(self) -> Order:
        """An order that means the same from whatever folder it is carried out."""
        return self.model_copy(
            update={
                "kind": str(Path(self.kind).absolute()) if self.kind.endswith(ENDINGS) else self.kind,
                "output": self.output.absolute(),
                "templates": self.templates.absolute() if self.templates else None,
            }
        )


class Delivery(Frozen):
    """What came of an order."""

    document: Document
    files: tuple[Path, ...]


def check(order: Order) -> None:
    """Say what is wrong with an order before it is due."""
    template = _template(order)
    filter_of(template.filters | order.words)
    template.check()
    for part in template.sections:
        SECTIONS.get(part.section)
    order.targets()


def carry_out(order: Order, store: Store, now: datetime, watch: Watch) -> Delivery:
    """All is rendered before the first file is written, so that none is there alone."""
    places = order.targets()
    for folder in sorted({path.parent for path in places.values()}):
        make_folder(folder)
    with needing_packages():
        document = compose(order, store, now, watch)
        files = rendered(document, places, watch)
    write(files)
    return Delivery(document=document, files=tuple(files))


def compose(order: Order, store: Store, now: datetime, watch: Watch) -> Document:
    """The document itself."""
    template = _template(order)
    words = template.filters | order.words
    subject = {template.subject: order.subject} if template.subject and order.subject else {}
    material = Material(store, _chosen(template, order, store, words), words | subject)
    title = order.title or " ".join(filter(None, (template.title, order.subject)))
    return assemble(template, material, title, now, (order.command(store), *_commands(material)), watch)


def _commands(material: Material) -> list[str]:
    """Those that measured, the newest first."""
    found = list(dict.fromkeys(run.command for run in material.runs))
    more = len(found) - MOST_COMMANDS
    return [*found[:MOST_COMMANDS], *([f"# and {more} more"] if more > 0 else [])]


def _template(order: Order) -> Template:
    """The kind, if it fits what the report is to be about."""
    template = find_template(order.kind, order.templates)
    if bool(order.subject) != bool(template.subject):
        wanted = f"name the {template.subject}: dyno report {order.kind} NAME"
        raise InputError(
            f"A report {order.kind} is about one {template.subject}; {wanted}."
            if template.subject
            else f"A report {order.kind} is about no {order.subject}; leave it out, or choose with --model."
        )
    return template


def _chosen(template: Template, order: Order, store: Store, words: Mapping[str, str]) -> Filter:
    """The filter, with the model or the run that the kind is about."""
    chosen = real(filter_of(words))
    if template.subject == "run" and order.subject:
        return replace(chosen, run_id=(store.find_run(order.subject).run_id,))
    if template.subject == "model" and order.subject:
        return replace(chosen, model=(_known_model(order.subject, store),))
    return chosen


def _known_model(name: str, store: Store) -> str:
    from modeldyno.store.count import count_records

    known = {model for count in count_records(store, Filter()) for model in count.models}
    if name.lower() not in {model.lower() for model in known}:
        raise UnknownName("model in this store", name, known)
    return name
