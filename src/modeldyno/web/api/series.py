"""/api/v1/series: the same case on equal hardware over time, its level and where that changed."""

from __future__ import annotations

import json
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.analysis import documents
from modeldyno.analysis.history import History, analyse
from modeldyno.core.metrics import METRICS, metric
from modeldyno.store.points import Point, read_series
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, Listed, paged, resource
from modeldyno.web.api._asking import USUAL_ROWS, Chosen, Cursor, Limit, behind, cursor_text
from modeldyno.web.api._shapes import Listing, OneSeries, SeriesShape
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

_ORDER = "series_id"
MetricName = Annotated[str, Query(max_length=60, description=f"One of {', '.join(METRICS)}.")]


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/series", responses={200: {"model": Listing[SeriesShape]}})
    async def list_series(
        request: Request, chosen: Chosen, limit: Limit = USUAL_ROWS, cursor: Cursor = None
    ) -> Response:
        """Series of the chosen results, by id."""
        after = behind(cursor, _ORDER)

        def make(snapshot: Snapshot) -> Listed:
            rows = snapshot.series(chosen, limit + 1, after)
            page = paged(rows, limit, lambda row: cursor_text(_ORDER, row["series_id"]))
            return Listed([row | {name: json.loads(row[name]) for name in _TEXTS} for row in page.items], page.next)

        return await answers.short(request, make)

    @router.get("/api/v1/series/{series_id}", responses={200: {"model": OneSeries}, **documented(404)})
    async def one_series(request: Request, series_id: str, metric: MetricName = "latency_ms") -> Response:
        """Its points, its level since the last change, and its changes with the verdict on each.

        Changes are judged as if this series were the only one looked at."""
        return await answers.short(request, lambda snapshot: _one(snapshot, series_id, metric))

    return router


_TEXTS = ("shape", "options")


def _one(snapshot: Snapshot, series_id: str, name: str) -> dict[str, Any]:
    known = metric(name)
    chosen = Filter(series_id=(series_id,))
    found = read_series(snapshot.store, chosen, known.name) if snapshot.count(chosen) else []
    if not found:
        raise NotThere(f"There is no series {series_id[:40]}; /api/v1/series lists all.")
    made_up = all(not point.provenance.is_real for point in found[0].points)
    return _with_points(analyse(found, known.name, made_up)[0]) | {"metric": known.name, "unit": known.unit}


def _with_points(one: History) -> dict[str, Any]:
    """As `dyno history --json` has it, with the points themselves in place of their number."""
    counting = {point.record_id for point in one.points}
    return documents.history(one) | {
        "points": [_point(point, point.record_id in counting) for point in one.series.points]
    }


def _point(point: Point, counts: bool) -> dict[str, Any]:
    return {
        "record_id": point.record_id,
        "run_id": point.run_id,
        "started_at": point.started_at,
        "status": point.status.value,
        "provenance": point.provenance.value,
        "value": point.value,
        "low": point.low,
        "high": point.high,
        "commit": point.commit,
        "host": point.host.hostname or point.host_id,
        "driver": point.driver,
        "counts": counts,
    }


MEMBER = routes
