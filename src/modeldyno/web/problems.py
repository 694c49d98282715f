"""Errors as they go out: problem+json for programs, a page for people; a sentence that ends in what to do."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from pydantic import BaseModel
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException
from starlette.responses import RedirectResponse, Response

from modeldyno.core.errors import DynoError, InputError
from modeldyno.web.answers import dumped
from modeldyno.web.passage import TooMuch
from modeldyno.web.shown import address

LOG = logging.getLogger("modeldyno.web")
PROBLEM = "application/problem+json"
_TITLES = {
    400: "Wrong input",
    401: "Log in first",
    403: "Not allowed",
    404: "Not there",
    405: "Not that way",
    409: "Not now",
    422: "Wrong input",
    429: "Too many attempts",
    503: "Not possible now",
}
Show = Callable[[Request, int, str, str], Response]
"""Makes a page of status, title and sentence."""


class Problem(BaseModel):
    """RFC 9457."""

    type: str = "about:blank"
    title: str
    status: int
    detail: str


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """For the description of a route that may answer so."""
    content = {PROBLEM: {"schema": Problem.model_json_schema()}}
    return {status: {"description": _TITLES[status], "content": content} for status in statuses}


def status_of(error: DynoError) -> int:
    return int(getattr(error, "status", 400 if isinstance(error, InputError) else 503))


class _Problems:
    """One way out for all errors."""

    def __init__(self, show: Show) -> None:
        self._show = show

    def answer(self, request: Request, status: int, detail: str, headers: dict[str, str] | None = None) -> Response:
        title = _TITLES.get(status, "Something went wrong")
        if not _is_for_people(request):
            document = {"type": "about:blank", "title": title, "status": status, "detail": detail}
            return Response(dumped(document), status, headers, media_type=PROBLEM)
        if status == 401:
            asked = request.url.path + (f"?{request.url.query}" if request.url.query else "")
            back = asked if request.method == "GET" else "/dashboard"
            return RedirectResponse(address("/login", next=back), 303)
        page = self._show(request, status, title, detail)
        page.headers.update(headers or {})
        return page

    async def ours(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, DynoError)
        headers = getattr(error, "headers", None)
        return await run_in_threadpool(self.answer, request, status_of(error), str(error), headers)

    async def theirs(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, HTTPException)
        detail = error.detail if ";" in error.detail else f"{error.detail}; see /docs for what there is."
        return await run_in_threadpool(self.answer, request, error.status_code, detail, dict(error.headers or {}))

    async def wrong(self, request: Request, error: Exception) -> Response:
        assert isinstance(error, RequestValidationError)
        first = error.errors()[0]
        place = ".".join(str(part) for part in first["loc"])
        return self.answer(request, 422, f"{place}: {first['msg']}; see /docs for what is expected.")

    async def bug(self, request: Request, error: Exception) -> Response:
        LOG.error("unexpected", exc_info=error)
        return self.answer(request, 500, "The server has a fault; its log says more.")


def install(app: FastAPI, show: Show) -> None:
    """All errors come out alike."""
    problems = _Problems(show)
    app.add_exception_handler(DynoError, problems.ours)
    app.add_exception_handler(HTTPException, problems.theirs)
    app.add_exception_handler(RequestValidationError, problems.wrong)
    app.add_exception_handler(Exception, problems.bug)
    app.add_exception_handler(TooMuch, _pass_on)


async def _pass_on(_: Request, error: Exception) -> Response:
    raise error


def _is_for_people(request: Request) -> bool:
    path = request.url.path
    return not path.startswith(("/api", "/healthz", "/metrics")) and "text/html" in request.headers.get("accept", "")
