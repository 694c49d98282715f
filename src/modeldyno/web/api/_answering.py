"""How routes answer: from what is kept of the snapshot, else from the thread pool; lists in pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import anyio
from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import URL
from starlette.responses import Response

from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.access.roles import Role
from modeldyno.web.answers import Body, json_body
from modeldyno.web.api._asking import known_words
from modeldyno.web.house import House
from modeldyno.web.problems import documented

AT_ONCE = 2
"""Long answers that are worked out side by side, so that short ones are not kept waiting."""
LARGEST = 250_000
"""Bytes of an answer that is kept to be given again."""
READING = documented(400, 401, 403, 422)
"""What every question may be answered with."""
Make = Callable[[Snapshot], Any]


@dataclass(frozen=True)
class Listed:
    """A page of a list, and where the next one begins."""

    items: list[dict[str, Any]]
    next: str | None


@dataclass(frozen=True)
class _Kept:
    body: Body
    next: str | None = None


class _TooLarge(Exception):
    """To be kept; it is given all the same."""

    def __init__(self, made: _Kept) -> None:
        self.made = made


def resource(guard: Guard, role: Role = Role.VIEWER) -> APIRouter:
    """A router whose routes need this role and know their parameters."""
    return APIRouter(dependencies=[Depends(guard.needs(role)), Depends(known_words)], responses=READING)


class Answers:
    """Of one resource. What is asked again is not worked out again while the store stays as it is."""

    def __init__(self, house: House) -> None:
        self._house = house
        self._limiter: anyio.CapacityLimiter | None = None

    async def short(self, request: Request, make: Make) -> Response:
        """What the snapshot answers in milliseconds; `make` gives a document, a page of a list or a body."""
        found: _Kept | None = self._house.shelf.found(_key(request))
        if found is None:
            found = await run_in_threadpool(self._made, _key(request), make)
        return _reply(found, request)

    async def long(self, request: Request, make: Make) -> Response:
        """What has to read the store, or to think."""
        found: _Kept | None = self._house.shelf.found(_key(request))
        if found is None:
            self._limiter = self._limiter or anyio.CapacityLimiter(AT_ONCE)
            found = await anyio.to_thread.run_sync(self._made, _key(request), make, limiter=self._limiter)
        return _reply(found, request)

    def _made(self, key: tuple[str, ...], make: Make) -> _Kept:
        def kept(snapshot: Snapshot) -> _Kept:
            made = _kept(make(snapshot))
            if len(made.body.content) > LARGEST:
                raise _TooLarge(made)
            return made

        try:
            return self._house.shelf.kept(key, kept)
        except _TooLarge as error:
            return error.made


def _key(request: Request) -> tuple[str, str, str]:
    return "api", request.url.path, request.url.query


def _kept(made: Any) -> _Kept:
    if isinstance(made, Body):
        return _Kept(made)
    if isinstance(made, Listed):
        return _Kept(json_body({"items": made.items, "next": made.next}), made.next)
    return _Kept(json_body(made))


def _reply(found: _Kept, request: Request) -> Response:
    response = found.body.reply(request)
    if found.next is not None:
        response.headers["Link"] = further(request.url, found.next)
    return response


def further(url: URL, cursor: str) -> str:
    """The Link of the same question from there on; without the server's name, which a proxy may change."""
    address = url.include_query_params(cursor=cursor)
    return f'<{address.path}?{address.query}>; rel="next"'


def paged(rows: list[dict[str, Any]], limit: int, place: Callable[[dict[str, Any]], str]) -> Listed:
    """One row more than the limit was asked for: it tells whether there is a next page."""
    items = rows[:limit]
    return Listed(items, place(items[-1]) if len(rows) > limit and items else None)
