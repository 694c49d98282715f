"""The routes of the dashboard: each page at its address, and the same with .json and .csv."""

from __future__ import annotations

import hashlib
from collections.abc import Awaitable, Callable
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from fastapi import APIRouter, Depends, Request
from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.responses import RedirectResponse, Response

from modeldyno import __version__
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Snapshot
from modeldyno.web import charts, shown
from modeldyno.web.access.guard import Guard
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.answers import HTML, Body, csv_body, json_body
from modeldyno.web.house import House
from modeldyno.web.sheet import PAGES, Ask, Page, Sheet

AT_ONCE = 8
ENDINGS = (".json", ".csv", "")
_STATIC = files("modeldyno.web") / "static"
_MEDIA = {".css": "text/css", ".js": "text/javascript", ".svg": "image/svg+xml", ".png": "image/png"}


class Pages:
    """The templates with what all of them use."""

    def __init__(self, house: House) -> None:
        self._environment = Environment(
            loader=PackageLoader("modeldyno.web"),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._environment.filters |= shown.FILTERS
        self._house = house
        self._menu = sorted((page for page in PAGES.all() if page.nav), key=lambda page: page.place)
        self._environment.globals |= {
            "address": shown.address,
            "charts": charts,
            "static": static_address,
            "store_name": house.store.path.name,
            "version": __version__,
        }

    def text(self, name: str, request: Request, person: Person | None, title: str, **data: Any) -> str:
        here = request.url.path
        query = {key: request.query_params.getlist(key) for key in request.query_params}
        menu = [page for page in self._menu if page.chosen is None or self._has(page.path, page.chosen)]
        common = {"title": title, "person": person, "here": here, "query": query, "data": data, "menu": menu}
        return self._environment.get_template(f"{name}.html").render(**common, **data)

    def _has(self, path: str, chosen: Filter) -> bool:
        """Whether there is something to show on such a page."""
        return self._house.shelf.kept(("menu", path), lambda snapshot: snapshot.count(chosen) > 0)


class _Makers:
    """Few pages are made at a time: they share the cores, and who logs in must not wait for all of them."""

    def __init__(self) -> None:
        self._limiter: anyio.CapacityLimiter | None = None

    async def __call__(self, make: Callable[[], Body]) -> Body:
        self._limiter = self._limiter or anyio.CapacityLimiter(AT_ONCE)
        return await anyio.to_thread.run_sync(make, limiter=self._limiter)


def routes(house: House, guard: Guard, pages: Pages) -> APIRouter:
    router, made = APIRouter(include_in_schema=False), _Makers()
    for name in PAGES.names():
        page = PAGES.get(name)
        for ending in ENDINGS:
            answer = _route(house, guard, pages, made, name, page, ending)
            router.add_api_route(page.path + ending, answer, methods=["GET"])
    router.add_api_route("/", lambda: RedirectResponse("/dashboard"), methods=["GET"])
    router.add_api_route("/static/{mark}/{name}", static, methods=["GET"])
    return router


def _route(
    house: House, guard: Guard, pages: Pages, made: _Makers, name: str, page: Page, ending: str
) -> Callable[..., Awaitable[Response]]:
    async def answer(request: Request, person: Person = Depends(guard.needs(Role.VIEWER))) -> Response:
        def make(snapshot: Snapshot) -> Body:
            query = {key: request.query_params.getlist(key) for key in request.query_params}
            sheet = page.make(Ask(house, snapshot, query, request.path_params, person))
            return _body(sheet, ending, name, lambda: pages.text(name, request, person, sheet.title, **sheet.data))

        if page.live:
            body = await made(lambda: make(house.now))
        else:
            asked = (ending, request.url.path, request.url.query)
            key = (*asked, person.name, person.role, person.csrf, house.mood(page.moody))
            body = house.shelf.found(key) or await made(lambda: house.shelf.kept(key, make))
        return body.reply(request)

    return answer


def _body(sheet: Sheet, ending: str, name: str, page: Callable[[], str]) -> Body:
    if ending == ".json":
        return json_body({key: value for key, value in sheet.data.items() if not key.startswith("_")})
    if ending == ".csv":
        return csv_body(sheet.rows, f"{name}.csv")
    return Body.of(page().encode("utf-8", "replace"), HTML)


@cache
def _files() -> dict[str, tuple[bytes, str]]:
    """All that there are, with a mark of each."""
    contents = {each.name: each.read_bytes() for each in _STATIC.iterdir()}
    return {name: (text, hashlib.blake2b(text, digest_size=6).hexdigest()) for name, text in contents.items()}


def static_address(name: str) -> str:
    """With a mark of the content, so that browsers may keep it for ever."""
    return f"/static/{_files()[name][1]}/{name}"


def static(mark: str, name: str, request: Request) -> Response:  # noqa: ARG001 - the mark is for the browser's cache
    found = _files().get(name)
    if found is None:
        return Response("There is no such file.", 404, media_type="text/plain")
    media = _MEDIA.get(Path(name).suffix, "application/octet-stream")
    response = Body.of(found[0], media).reply(request)
    response.headers["Cache-Control"] = "public, max-age=31536000, immutable"
    return response
