"""/api/v1/compatibility: which model works on which platform, and what to use instead."""

from __future__ import annotations

from fastapi import APIRouter, Request
from starlette.responses import Response

from modeldyno.analysis.compatibility import matrix
from modeldyno.analysis.documents import compatibility as document
from modeldyno.store.outcomes import read_tries
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import Chosen
from modeldyno.web.api._shapes import MatrixShape
from modeldyno.web.house import House


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/compatibility", responses={200: {"model": MatrixShape}})
    async def compatibility(request: Request, chosen: Chosen) -> Response:
        """From what really happened, measurements and tests; only pairs that were tried."""
        return await answers.long(request, lambda snapshot: document(matrix(read_tries(snapshot.store, chosen))))

    return router


MEMBER = routes
