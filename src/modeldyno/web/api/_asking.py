"""What the parameters of an address mean: which results, in which order, from where on; and wrong ones."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

from fastapi import Depends, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import Field

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.spoken import FILTERS
from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import Filter, naive_utc
from modeldyno.store.snapshot import MOST_ROWS, ORDERS
from modeldyno.web.choosing import LONGEST, MOST, chosen

USUAL_ROWS = 100
NAME = r"^[A-Za-z0-9][A-Za-z0-9_.-]*(/[A-Za-z0-9][A-Za-z0-9_.-]*)?$"
_SORT = f"^-?({'|'.join(ORDERS)})$"
_FOREIGN = "That cursor is none of ours, or of another order; begin again without it."

Many = list[Annotated[str, Field(max_length=LONGEST)]]
Limit = Annotated[int, Query(ge=1, le=MOST_ROWS, description="How many at most.")]
Cursor = Annotated[str | None, Query(max_length=1000, description="Where to go on: `next` of the page before.")]
Sort = Annotated[str, Query(pattern=_SORT, description="A column; with a minus the largest first.")]
ModelName = Annotated[
    str, Query(pattern=NAME, max_length=LONGEST, description="A name of the catalogue, or a Hugging Face id.")
]
Sizes = Annotated[
    list[str] | None, Query(max_length=20, description="Sizes beyond the batch, such as seq=128; may be repeated.")
]


class NotNow(InputError):
    """It is there, but cannot be had or done now."""

    status = 409


def _words(about: str) -> Any:
    return Query(max_length=MOST, description=f"{about} Several by commas, or given several times.")


def _whole(about: str) -> Any:
    return Query(max_length=MOST, description=f"{about} May be given several times.")


def choosing(
    model: Annotated[Many | None, _words(FILTERS["model"])] = None,
    on: Annotated[Many | None, _words(FILTERS["on"])] = None,
    family: Annotated[Many | None, _words(FILTERS["family"])] = None,
    runtime: Annotated[Many | None, _words(FILTERS["runtime"])] = None,
    precision: Annotated[Many | None, _words(FILTERS["precision"])] = None,
    batch: Annotated[Many | None, _words(FILTERS["batch"])] = None,
    workload: Annotated[Many | None, _words(FILTERS["workload"])] = None,
    status: Annotated[Many | None, _words(f"Only {', '.join(Status)}.")] = None,
    provenance: Annotated[
        Many | None, _words(f"Only {', '.join(Provenance)}; measured and imported where none is named.")
    ] = None,
    since: Annotated[str | None, Query(max_length=LONGEST, description=FILTERS["since"])] = None,
    until: Annotated[str | None, Query(max_length=LONGEST, description=FILTERS["until"])] = None,
    architecture: Annotated[Many | None, _whole("Only these architectures.")] = None,
    device: Annotated[Many | None, _whole("Only devices of these names.")] = None,
    run: Annotated[Many | None, _whole("Only of these runs.")] = None,
    series: Annotated[Many | None, _whole("Only of these series.")] = None,
) -> Filter:
    """The same for all lists of results."""
    lists = {"model": model, "on": on, "family": family, "runtime": runtime, "precision": precision, "batch": batch}
    lists |= {"workload": workload, "status": status, "provenance": provenance, "architecture": architecture}
    lists |= {"device": device, "run": run, "series": series, "since": [since or ""], "until": [until or ""]}
    found = chosen({name: texts or () for name, texts in lists.items()})
    _check_reach(found)
    return found


def _check_reach(found: Filter) -> None:
    """What the database has no number or no date for."""
    if any(size >= 2**31 for size in found.batch):
        raise InputError("A batch size is too large; give at most 2147483647.")
    for moment in filter(None, (found.since, found.until)):
        try:
            naive_utc(moment)
        except OverflowError:
            raise InputError(f"'{moment.isoformat()}' is outside of the calendar; give another moment.") from None


Chosen = Annotated[Filter, Depends(choosing)]


_KNOWN: dict[Any, frozenset[str]] = {}
"""The parameters of each endpoint."""


def known_words(request: Request) -> None:
    """A misspelt parameter would choose everything: it is an error instead."""
    route = request.scope.get("route")
    if not request.url.query or not isinstance(route, APIRoute):
        return
    if route.endpoint not in _KNOWN:
        _KNOWN[route.endpoint] = frozenset(_parameters(route.dependant))
    known = _KNOWN[route.endpoint]
    if wrong := next((name for name in request.query_params if name not in known), None):
        raise UnknownName("parameter", wrong[:LONGEST], known or ("none",))


def _parameters(of: Dependant) -> Iterator[str]:
    yield from (field.alias for field in of.query_params)
    for each in of.dependencies:
        yield from _parameters(each)


def cursor_text(sort: str, key: str) -> str:
    """Where a page of this order goes on: behind the thing with this id."""
    content = json.dumps([sort, key], separators=(",", ":"))
    return base64.urlsafe_b64encode(content.encode()).decode().rstrip("=")


def behind(cursor: str | None, sort: str) -> str | None:
    """The id that a cursor of this order stands for."""
    if not cursor:
        return None
    try:
        content = json.loads(base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True))
    except (ValueError, RecursionError):
        raise InputError(_FOREIGN) from None
    match content:
        case [str(named), str(key)] if named == sort:
            return key
    raise InputError(_FOREIGN)


def check_named(model: str) -> str:
    """Files and folders of the server are not for the web."""
    from modeldyno import models

    if not models.find(model) and Path(model).exists():
        raise InputError(f"'{model}' is not a model's name; give a name of the catalogue or a Hugging Face id.")
    return model


def sizes_of(pairs: list[str] | None) -> dict[str, int]:
    """`seq=128` as a size."""
    sizes = {}
    for pair in pairs or ():
        axis, equals, size = pair.partition("=")
        if not (axis.isidentifier() and equals and size.isdecimal() and 0 < len(size) < 10 and int(size)):
            raise InputError(f"'{pair[:LONGEST]}' is no size; write for example shape=seq=128.")
        sizes[axis] = int(size)
    return sizes
