"""/api/v1/jobs: runs that are ordered from the server, what became of them, and their events as they happen."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Header, Path, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import PlainTextResponse, Response, StreamingResponse

from modeldyno.web.access.guard import Guard, address_of
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.answers import JSON, dumped, json_body
from modeldyno.web.api._answering import Listed, further, paged, resource
from modeldyno.web.api._asking import USUAL_ROWS, Cursor, Limit, behind, cursor_text
from modeldyno.web.api._shapes import Listing
from modeldyno.web.house import House
from modeldyno.web.jobs.feed import follow
from modeldyno.web.jobs.order import Order
from modeldyno.web.jobs.queue import URGENT
from modeldyno.web.jobs.types import Event, Job, State
from modeldyno.web.problems import documented

SILENCE_S = 15.0
"""After so long a comment is sent, so that nobody in between ends the connection."""
LAST = 2**53
_ORDER = "-job_id"
_STREAM = "text/event-stream"
_Id = Annotated[str, Path(max_length=64)]
_CONTENT: dict[int | str, dict[str, Any]] = {200: {"content": {_STREAM: {"schema": {"type": "string"}}}}}


def routes(house: House, guard: Guard) -> APIRouter:
    router = resource(guard)
    _reading(router, house)
    _writing(router, house, guard)
    return router


def _reading(router: APIRouter, house: House) -> None:
    @router.get("/api/v1/jobs", responses={200: {"model": Listing[Job]}})
    def list_jobs(
        request: Request,
        state: Annotated[list[State] | None, Query(max_length=20, description="Only in these states.")] = None,
        limit: Limit = USUAL_ROWS,
        cursor: Cursor = None,
    ) -> Response:
        """The newest first."""
        page = _page(house.queue.jobs(state or (), min(limit + 1, 1000), behind(cursor, _ORDER)), min(limit, 999))
        response = json_body({"items": page.items, "next": page.next}).reply(request)
        if page.next:
            response.headers["Link"] = further(request.url, page.next)
        return response

    @router.get("/api/v1/jobs/{job_id}", responses={200: {"model": Job}, **documented(404)})
    def one_job(request: Request, job_id: _Id) -> Response:
        """How far it has got."""
        return json_body(house.queue.get(job_id)).reply(request)

    @router.get("/api/v1/jobs/{job_id}/log", response_class=PlainTextResponse, responses=documented(404))
    def log_of_job(job_id: _Id) -> Response:
        """What its process said, as text."""
        return PlainTextResponse(house.queue.log(job_id).read())

    @router.get("/api/v1/jobs/{job_id}/events", response_class=StreamingResponse, responses=_CONTENT | documented(404))
    async def events_of_job(
        job_id: _Id,
        after: Annotated[int, Query(ge=0, le=LAST, description="The number of the last event that is known.")] = 0,
        last_event_id: Annotated[int | None, Header(ge=0, le=LAST, description="Browsers send it.")] = None,
    ) -> Response:
        """Server-sent events: all there are, then those to come, until the job is over."""
        await run_in_threadpool(house.queue.get, job_id)
        events = follow(house.queue, house.feed, job_id, after if last_event_id is None else last_event_id)
        headers = {"Cache-Control": "no-store", "X-Accel-Buffering": "no"}
        return StreamingResponse(_stream(events), media_type=_STREAM, headers=headers)


def _writing(router: APIRouter, house: House, guard: Guard) -> None:
    runner = guard.needs(Role.RUNNER)

    def answer(request: Request, person: Person, action: str, do: Callable[[], Job], status: int = 200) -> Response:
        job = do()
        guard.book.note(person.name, action, job.job_id, "ok", address_of(request))
        headers = {"Location": f"/api/v1/jobs/{job.job_id}"} if status == 201 else None
        return Response(dumped(job.model_dump(mode="json")), status, headers, JSON)

    @router.post("/api/v1/jobs", status_code=201, responses={201: {"model": Job}, **documented(503)})
    def submit_job(
        request: Request,
        order: Order,
        priority: Annotated[int, Query(ge=-URGENT, le=URGENT, description="The highest goes first.")] = 0,
        person: Person = Depends(runner),
    ) -> Response:
        """Order a run: blocks in the words of a suite."""
        return answer(request, person, "submit", lambda: house.queue.submit(order, person.name, priority), 201)

    @router.post("/api/v1/jobs/{job_id}/cancel", responses={200: {"model": Job}, **documented(404, 409)})
    def cancel_job(request: Request, job_id: _Id, person: Person = Depends(runner)) -> Response:
        """End it; what is measured stays."""
        return answer(request, person, "cancel", lambda: house.queue.cancel(job_id, person.name))

    @router.post("/api/v1/jobs/{job_id}/resume", responses={200: {"model": Job}, **documented(404, 409)})
    def resume_job(request: Request, job_id: _Id, person: Person = Depends(runner)) -> Response:
        """Measure the cases that are left."""
        return answer(request, person, "resume", lambda: house.queue.resume(job_id, person.name))

    @router.post(
        "/api/v1/jobs/{job_id}/rerun", status_code=201, responses={201: {"model": Job}, **documented(404, 503)}
    )
    def rerun_job(request: Request, job_id: _Id, person: Person = Depends(runner)) -> Response:
        """A new job of the same order."""
        return answer(request, person, "rerun", lambda: house.queue.rerun(job_id, person.name), 201)


def _page(jobs: list[Job], limit: int) -> Listed:
    rows = [job.model_dump(mode="json") for job in jobs]
    return paged(rows, limit, lambda row: cursor_text(_ORDER, row["job_id"]))


async def _stream(events: AsyncIterator[Event]) -> AsyncIterator[bytes]:
    """As HTML's EventSource reads them."""
    next_one = asyncio.ensure_future(anext(events, None))
    try:
        while True:
            done, _ = await asyncio.wait({next_one}, timeout=SILENCE_S)
            if not done:
                yield b": still here\n\n"
                continue
            event = next_one.result()
            if event is None:
                return
            content = dumped(event.model_dump(mode="json")).decode()
            yield f"id: {event.number}\nevent: {event.kind.value}\ndata: {content}\n\n".encode()
            next_one = asyncio.ensure_future(anext(events, None))
    finally:
        next_one.cancel()


MEMBER = routes
