"""/api/v1/records: results in pages, one of them whole, and its samples."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.core.types import Record
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import VALUES, WITH_INTERVAL, Order, Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, Listed, paged, resource
from modeldyno.web.api._asking import USUAL_ROWS, Chosen, Cursor, Limit, Sort, behind, cursor_text
from modeldyno.web.api._shapes import Listing, RowWithMetrics, SamplesShape, WholeRecord
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

_METRICS = frozenset({*VALUES, *(f"{name}_{end}" for name in WITH_INTERVAL for end in ("low", "high"))})
_TEXTS = ("shape", "options")
_read = json.JSONDecoder().decode


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/records", responses={200: {"model": Listing[RowWithMetrics]}})
    async def list_records(
        request: Request,
        chosen: Chosen,
        newest: Annotated[bool, Query(description="Only the newest of each series.")] = False,
        sort: Sort = "-started_at",
        limit: Limit = USUAL_ROWS,
        cursor: Cursor = None,
    ) -> Response:
        """Results without their samples."""
        order = Order.read(sort)
        after = behind(cursor, sort)

        def make(snapshot: Snapshot) -> Listed:
            rows = snapshot.results(chosen, order, limit + 1, after, newest)
            page = paged(rows, limit, lambda row: cursor_text(sort, row["record_id"]))
            return Listed([row_document(row) for row in page.items], page.next)

        return await answers.short(request, make)

    @router.get("/api/v1/records/{record_id}", responses={200: {"model": WholeRecord}, **documented(404)})
    async def one_record(request: Request, record_id: str) -> Response:
        """One record with all that is known of it."""

        def make(snapshot: Snapshot) -> dict[str, Any]:
            record = whole(snapshot, record_id)
            return record.model_dump() | {"series_id": record.series_id}

        return await answers.short(request, make)

    @router.get("/api/v1/records/{record_id}/samples", responses={200: {"model": SamplesShape}, **documented(404)})
    async def samples_of_record(request: Request, record_id: str) -> Response:
        """The raw samples of one record, by process."""

        def make(snapshot: Snapshot) -> dict[str, Any]:
            record = whole(snapshot, record_id)
            return {"record_id": record_id, "samples": [one.model_dump() for one in record.samples]}

        return await answers.short(request, make)

    return router


def row_document(row: dict[str, Any]) -> dict[str, Any]:
    """As JSON; metrics that it does not have are left out."""
    document = {name: value for name, value in row.items() if value is not None or name not in _METRICS}
    for name in _TEXTS:
        document[name] = _read(document[name])
    return document


def whole(snapshot: Snapshot, record_id: str) -> Record:
    if found := snapshot.store.records(Filter(record_id=(record_id,))):
        return found[0]
    raise NotThere(f"There is no record {record_id[:40]}; /api/v1/records lists all.")


MEMBER = routes
