"""Puts the server together: routes, limits, errors, and what starts and ends with it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import Depends, FastAPI, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from modeldyno import __version__
from modeldyno.web import dashboard, forms, problems
from modeldyno.web.access import routes as access
from modeldyno.web.access.binding import LoopbackNames
from modeldyno.web.access.roles import AccessDenied, Person, Role
from modeldyno.web.answers import HTML, Body, json_body
from modeldyno.web.api import APIS
from modeldyno.web.described import groups
from modeldyno.web.house import House
from modeldyno.web.passage import Passage
from modeldyno.web.settings import Settings
from modeldyno.web.shelf import Shelf

ABOUT = "Results of machine-learning models on hardware: read, compare, predict, bring your own, and measure more."


def create_app(settings: Settings, shelf: Shelf | None = None) -> FastAPI:
    """An app over one store; its parts start with it and end with it."""
    house = House.build(settings, shelf)

    @asynccontextmanager
    async def living(_: FastAPI) -> AsyncIterator[None]:
        await run_in_threadpool(house.start)
        yield
        await run_in_threadpool(house.stop)

    app = FastAPI(
        title="modeldyno",
        version=__version__,
        description=ABOUT,
        lifespan=living,
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
    )
    app.state.house = house
    pages = dashboard.Pages(house)
    for name in APIS.names():
        app.include_router(APIS.get(name)(house, house.guard), tags=[name])
    app.include_router(access.routes(house.guard))
    app.include_router(forms.routes(house, pages))
    app.include_router(dashboard.routes(house, house.guard, pages))
    _describe(app, house, pages)
    problems.install(app, _problem_page(house, pages))
    if house.guard.open_reading:
        app.add_middleware(LoopbackNames, public_url=settings.public_url)
    app.add_middleware(
        Passage,
        figures=house.figures,
        largest_body=int(settings.largest_body_mb * 1e6),
        slowest_body_s=settings.slowest_body_s,
        log=settings.log,
    )
    return app


def _describe(app: FastAPI, house: House, pages: dashboard.Pages) -> None:
    """The API's own document and page need the right to read, as all else."""

    @app.get("/api/v1/openapi.json", include_in_schema=False)
    def document(request: Request, _: Person = Depends(house.guard.needs(Role.VIEWER))) -> Response:
        return json_body(app.openapi()).reply(request)

    @app.get("/docs", include_in_schema=False)
    def docs(request: Request, person: Person = Depends(house.guard.needs(Role.VIEWER))) -> Response:
        text = pages.text("docs", request, person, "REST API", about=ABOUT, groups=groups(app.openapi()))
        return Body.of(text.encode(), HTML).reply(request)


def _problem_page(house: House, pages: dashboard.Pages) -> problems.Show:
    def show(request: Request, status: int, title: str, detail: str) -> Response:
        try:
            person = house.guard.identify(request)
        except AccessDenied:
            person = None
        text = pages.text("problem", request, person, title, detail=detail)
        return Body.of(text.encode(), HTML).reply(request, status)

    return show
