"""/api/v1/models: the catalogue, and all models that there are results of."""

from __future__ import annotations

from functools import cache
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno import models
from modeldyno.core.errors import UnknownName
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Snapshot
from modeldyno.store.words import real
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._shapes import All, ModelShape, OneModel
from modeldyno.web.choosing import LONGEST
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

Row = dict[str, Any]
_Word = Annotated[str | None, Query(max_length=LONGEST)]
_UNTRIED = {"results": 0, "ok": 0, "platforms": [], "last": None}


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/models", responses={200: {"model": All[ModelShape]}})
    async def list_models(
        request: Request, family: _Word = None, architecture: _Word = None, size: _Word = None
    ) -> Response:
        """The catalogue, and what else there are results of."""
        asked = {"family": family, "architecture": architecture, "size": size}
        return await answers.short(request, lambda snapshot: {"items": _chosen(all_models(snapshot), asked)})

    @router.get("/api/v1/models/{name:path}", responses={200: {"model": OneModel}, **documented(404)})
    async def one_model(request: Request, name: str) -> Response:
        """One model, and how it does on each platform by its newest results."""
        return await answers.short(request, lambda snapshot: _one(snapshot, name))

    return router


def all_models(snapshot: Snapshot) -> list[Row]:
    """By name; a model of the catalogue stands there once, also where results call it otherwise."""
    found = {row["name"]: row | _UNTRIED for row in _catalogue()}
    for row in snapshot.models():
        entry = models.find(row["model"])
        name = entry.name if entry and entry.name in found else row["model"]
        known = found.get(name)
        found[name] = _joined(known, row) if known else _from_results(row)
    return [found[name] for name in sorted(found)]


def _joined(known: Row, row: Row) -> Row:
    last = max(filter(None, (known["last"], row["last"])), default=None)
    counts = {name: known[name] + row[name] for name in ("results", "ok")}
    return known | counts | {"platforms": sorted({*known["platforms"], *row["platforms"]}), "last": last}


def _from_results(row: Row) -> Row:
    told = {name: row[name] for name in ("architecture", "family", "parameters", "results", "ok", "platforms", "last")}
    size = models.size_class(row["parameters"]) if row["parameters"] else None
    return {"name": row["model"], "id": None, "catalogue": False, "size": size} | told


@cache
def _catalogue() -> tuple[Row, ...]:
    return tuple(
        {
            "name": entry.name,
            "id": entry.hf_id,
            "architecture": models.resolve(entry.name).architecture,
            "family": entry.family,
            "parameters": entry.parameters,
            "size": models.size_class(entry.parameters),
            "catalogue": True,
        }
        for entry in models.catalogue()
    )


def _chosen(rows: list[Row], asked: dict[str, str | None]) -> list[Row]:
    for column, wanted in asked.items():
        if wanted is not None:
            known = {str(row[column]) for row in rows if row[column] is not None}
            if wanted not in known:
                raise UnknownName(column, wanted, known)
            rows = [row for row in rows if row[column] == wanted]
    return rows


def _one(snapshot: Snapshot, name: str) -> Row:
    entry = models.find(name)
    wanted = {name.lower(), *([entry.name.lower()] if entry else [])}
    found = next((row for row in all_models(snapshot) if row["name"].lower() in wanted), None)
    if found is None:
        raise NotThere(f"There is no model '{name[:LONGEST]}' here; /api/v1/models lists all.")
    names = tuple(entry.names) if entry else (found["name"],)
    rows = snapshot.matrix(real(Filter(model=names)))
    return found | {"on": [_without(row, "model", "family") for row in rows]}


def _without(row: Row, *names: str) -> Row:
    return {name: value for name, value in row.items() if name not in names}


MEMBER = routes
