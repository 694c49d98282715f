"""One file per resource of the REST API: a function that gives its routes, with full paths."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from modeldyno.core.registry import Registry

if TYPE_CHECKING:
    from fastapi import APIRouter, FastAPI

    from modeldyno.web.access.guard import Guard
    from modeldyno.web.house import House


class Routes(Protocol):
    def __call__(self, house: House, guard: Guard) -> APIRouter: ...


APIS: Registry[Routes] = Registry(__name__, "resource of the API")


def include(app: FastAPI, house: House, guard: Guard) -> None:
    """All resources that there are."""
    for name in APIS.names():
        app.include_router(APIS.get(name)(house, guard), tags=[name])
