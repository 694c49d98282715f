"""/api/v1/compatibility: which model works on which platform, and what to use instead."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from modeldyno.analysis.compatibility import Cell, Matrix, matrix
from modeldyno.store.outcomes import Try, read_tries
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
        return await answers.long(request, lambda snapshot: _document(matrix(read_tries(snapshot.store, chosen))))

    return router


def _document(made: Matrix) -> dict[str, Any]:
    cells = [_cell(cell) for cell in made.cells]
    return {"models": list(made.models), "platforms": list(made.platforms), "cells": cells}


def _cell(cell: Cell) -> dict[str, Any]:
    decisive = cell.best.decisive
    return {
        "model": cell.model,
        "platform": cell.platform,
        "status": cell.status.value,
        "reason": decisive.reason,
        "remedy": decisive.remedy,
        "ways": len(cell.ways),
        "decisive": _try(decisive),
        "instead": [_try(one) for one in cell.best.instead],
    }


def _try(one: Try) -> dict[str, Any]:
    return {
        "outcome_id": one.outcome_id,
        "platform": one.platform,
        "workload": one.workload,
        "runtime": one.runtime,
        "precision": one.precision,
        "batch": one.batch,
        "shape": one.shape,
        "status": one.status.value,
        "reason": one.reason,
        "remedy": one.remedy,
        "started_at": one.moment,
        "throughput_per_s": one.per_s,
    }


MEMBER = routes
