"""Which records are meant, in a user's words: the same for the options of commands, templates and addresses."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum
from typing import TypeVar

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.spoken import FILTERS, comma_list, moment
from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import Filter

E = TypeVar("E", bound=StrEnum)


def filter_of(words: Mapping[str, str], run_id: tuple[str, ...] = ()) -> Filter:
    """What the words choose; one that is none of the known ones is an error that lists them."""
    if unknown := next((name for name in words if name not in FILTERS), None):
        raise UnknownName("filter", unknown, FILTERS)
    lists = {name: comma_list(words.get(name)) for name in FILTERS}
    return Filter(
        run_id=run_id,
        model=tuple(lists["model"]),
        platform=tuple(lists["on"]),
        family=tuple(lists["family"]),
        runtime=tuple(lists["runtime"]),
        precision=tuple(lists["precision"]),
        batch=tuple(map(_whole, lists["batch"])),
        workload=tuple(lists["workload"]),
        status=tuple(_one_of(Status, "status", name) for name in lists["status"]),
        provenance=tuple(_one_of(Provenance, "provenance", name) for name in lists["provenance"]),
        since=moment(words.get("since")),
        until=moment(words.get("until")),
    )


def real(chosen: Filter) -> Filter:
    """What was measured or imported, unless the user asked for others."""
    return chosen if chosen.provenance else replace(chosen, provenance=tuple(p for p in Provenance if p.is_real))


def _one_of(kind: type[E], word: str, name: str) -> E:
    try:
        return kind(name)
    except ValueError:
        raise UnknownName(word, name, list(kind)) from None


def _whole(text: str) -> int:
    if not text.isdecimal():
        raise InputError(f"--batch {text} is no batch size; write whole numbers like --batch 1,8.")
    return int(text)
