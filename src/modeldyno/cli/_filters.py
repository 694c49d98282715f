"""Options that choose records, as a filter."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, TypeVar

import typer

from modeldyno.cli._options import comma_list

if TYPE_CHECKING:
    from modeldyno.store.query import Filter

ModelOption = Annotated[str | None, typer.Option("--model", help="Only these models.")]
OnOption = Annotated[str | None, typer.Option("--on", help="Only these platforms.")]
FamilyOption = Annotated[str | None, typer.Option("--family", help="Only these model families.")]
RuntimeOption = Annotated[str | None, typer.Option("--runtime", help="Only these runtimes.")]
PrecisionOption = Annotated[str | None, typer.Option("--precision", help="Only these precisions.")]
BatchOption = Annotated[str | None, typer.Option("--batch", help="Only these batch sizes.")]
WorkloadOption = Annotated[str | None, typer.Option("--workload", help="Only these workloads.")]
StatusOption = Annotated[str | None, typer.Option("--status", help="Only ok, skipped, failed, invalid.")]
ProvenanceOption = Annotated[
    str | None, typer.Option("--provenance", help="Only measured, imported, predicted, simulated.")
]
SinceOption = Annotated[str | None, typer.Option("--since", help="Only from this moment on: 2026-11-15, or 7d ago.")]
UntilOption = Annotated[str | None, typer.Option("--until", help="Only before this moment.")]

E = TypeVar("E", bound=StrEnum)


def make_filter(
    run_id: tuple[str, ...] = (),
    model: str | None = None,
    on: str | None = None,
    family: str | None = None,
    runtime: str | None = None,
    precision: str | None = None,
    batch: str | None = None,
    workload: str | None = None,
    status: str | None = None,
    provenance: str | None = None,
    since: str | None = None,
    until: str | None = None,
) -> Filter:
    """What the options choose; a word that is none of the known ones is an error that lists them."""
    from modeldyno.cli._time import moment
    from modeldyno.core.types import Provenance, Status
    from modeldyno.store.query import Filter

    return Filter(
        run_id=run_id,
        model=tuple(comma_list(model)),
        platform=tuple(comma_list(on)),
        family=tuple(comma_list(family)),
        runtime=tuple(comma_list(runtime)),
        precision=tuple(comma_list(precision)),
        batch=tuple(_whole(text) for text in comma_list(batch)),
        workload=tuple(comma_list(workload)),
        status=tuple(_one_of(Status, "status", name) for name in comma_list(status)),
        provenance=tuple(_one_of(Provenance, "provenance", name) for name in comma_list(provenance)),
        since=moment(since),
        until=moment(until),
    )


def _one_of(kind: type[E], word: str, name: str) -> E:
    from modeldyno.core.errors import UnknownName

    try:
        return kind(name)
    except ValueError:
        raise UnknownName(word, name, list(kind)) from None


def _whole(text: str) -> int:
    from modeldyno.core.errors import InputError

    if not text.isdecimal():
        raise InputError(f"--batch {text} is no batch size; write whole numbers like --batch 1,8.")
    return int(text)
