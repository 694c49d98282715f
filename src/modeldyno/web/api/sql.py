"""/api/v1/sql: a question in SQL, which may read the store's tables and nothing else."""

from __future__ import annotations

from itertools import islice
from typing import Any

import anyio
from fastapi import APIRouter
from pydantic import Field
from starlette.responses import Response

from modeldyno.core.types import Frozen
from modeldyno.store.ask import ask
from modeldyno.web.access.guard import Guard
from modeldyno.web.answers import JSON, dumped
from modeldyno.web.api._answering import AT_ONCE, resource
from modeldyno.web.api._services import SqlAnswer
from modeldyno.web.house import House
from modeldyno.web.problems import documented

MOST_ROWS = 10_000
MOST_BYTES = 16_000_000
"""Of an answer; what would follow is left out, and the answer says that there is more."""


class SqlQuestion(Frozen):
    """docs/schema.md says what there is."""

    sql: str = Field(min_length=1, max_length=100_000, examples=["SELECT model, count(*) FROM results GROUP BY model"])
    limit: int = Field(default=1000, ge=1, le=MOST_ROWS)


def routes(house: House, guard: Guard) -> APIRouter:
    router = resource(guard)
    limiter: list[anyio.CapacityLimiter] = []

    @router.post("/api/v1/sql", responses={200: {"model": SqlAnswer}, **documented(503)})
    async def ask_sql(question: SqlQuestion) -> Response:
        """One statement that reads; it is stopped when it takes too long."""
        if not limiter:
            limiter.append(anyio.CapacityLimiter(AT_ONCE))
        content = await anyio.to_thread.run_sync(_answer, house, question, limiter=limiter[0])
        return Response(content, media_type=JSON, headers={"Cache-Control": "no-store"})

    return router


def _answer(house: House, question: SqlQuestion) -> bytes:
    """Of the copy: a question that lasts would keep writers from the store itself."""
    snapshot, size = house.now, 0
    rows: list[list[Any]] = []
    with ask(snapshot.copy, question.sql, house.settings.sql_timeout_s) as answer:
        for row in islice(answer.rows, question.limit):
            rows.append([_cell(value) for value in row])
            size += len(dumped(rows[-1]))
            if size > MOST_BYTES:
                break
        more = next(answer.rows, None) is not None
    return dumped({"columns": list(answer.columns), "rows": rows, "more": more})


def _cell(value: Any) -> Any:
    """The keys of JSON are texts, those of DuckDB's maps are not."""
    if isinstance(value, dict):
        return {str(key): _cell(each) for key, each in value.items()}
    return [_cell(each) for each in value] if isinstance(value, list | tuple) else value


MEMBER = routes
