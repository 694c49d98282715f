"""/api/v1/runs: what was run, when, where, and how it ended."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, Listed, paged, resource
from modeldyno.web.api._asking import USUAL_ROWS, Cursor, Limit, behind, cursor_text
from modeldyno.web.api._shapes import Listing, RunShape
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

_ORDER = "-run_id"


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/runs", responses={200: {"model": Listing[RunShape]}})
    async def list_runs(request: Request, limit: Limit = USUAL_ROWS, cursor: Cursor = None) -> Response:
        """The newest first."""
        before = behind(cursor, _ORDER)

        def make(snapshot: Snapshot) -> Listed:
            rows = snapshot.runs(limit + 1, before)
            return paged(rows, limit, lambda row: cursor_text(_ORDER, row["run_id"]))

        return await answers.short(request, make)

    @router.get("/api/v1/runs/{run_id}", responses={200: {"model": RunShape}, **documented(404)})
    async def one_run(request: Request, run_id: str) -> Response:
        """One run by its id; its records are at /api/v1/records?run=ID."""

        def make(snapshot: Snapshot) -> dict[str, Any]:
            found = snapshot.runs(1, run_id=run_id)
            if not found:
                raise NotThere(f"There is no run {run_id[:40]}; /api/v1/runs lists all.")
            return found[0]

        return await answers.short(request, make)

    return router


MEMBER = routes
