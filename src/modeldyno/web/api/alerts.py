"""/api/v1/alerts: what someone should look at, until someone says that they did."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Path, Query, Request
from starlette.responses import Response

from modeldyno.web.access.guard import Guard, address_of
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.answers import JSON, dumped, json_body
from modeldyno.web.api._answering import resource
from modeldyno.web.api._asking import USUAL_ROWS, Limit
from modeldyno.web.api._shapes import All
from modeldyno.web.house import House
from modeldyno.web.jobs.types import Alert
from modeldyno.web.problems import documented


def routes(house: House, guard: Guard) -> APIRouter:
    router = resource(guard)

    @router.get("/api/v1/alerts", responses={200: {"model": All[Alert]}})
    def list_alerts(
        request: Request,
        unseen: Annotated[bool, Query(description="Only those that nobody has seen.")] = False,
        limit: Limit = USUAL_ROWS,
    ) -> Response:
        """The newest first."""
        return json_body({"items": house.queue.alerts(unseen, limit)}).reply(request)

    @router.post("/api/v1/alerts/{alert_id}/acknowledge", responses={200: {"model": Alert}, **documented(404)})
    def acknowledge_alert(
        request: Request,
        alert_id: Annotated[str, Path(max_length=64)],
        person: Person = Depends(guard.needs(Role.RUNNER)),
    ) -> Response:
        """Someone has seen it; the first one counts."""
        alert = house.queue.acknowledge(alert_id, person.name)
        house.alerted += 1
        guard.book.note(person.name, "acknowledge", alert_id, "ok", address_of(request))
        return Response(dumped(alert), media_type=JSON)

    return router


MEMBER = routes
