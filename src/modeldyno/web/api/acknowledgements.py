"""/api/v1/acknowledgements: regressions that someone has explained."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from pydantic import Field, StringConstraints
from starlette.responses import Response

from modeldyno.core.types import Frozen
from modeldyno.web.access.guard import Guard, address_of
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.answers import JSON, dumped, json_body
from modeldyno.web.api._answering import resource
from modeldyno.web.api._services import AcknowledgementShape
from modeldyno.web.api._shapes import All
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

Sentence = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]


class NewAcknowledgement(Frozen):
    """What is known of the change that begins with this record of this series."""

    series_id: str = Field(max_length=64)
    record_id: str = Field(max_length=64)
    text: Sentence


def routes(house: House, guard: Guard) -> APIRouter:
    router, kept = resource(guard), house.acknowledgements

    @router.get("/api/v1/acknowledgements", responses={200: {"model": All[AcknowledgementShape]}})
    def list_acknowledgements(request: Request) -> Response:
        """The newest first."""
        return json_body({"items": [asdict(one) for one in kept.all()]}).reply(request)

    @router.post(
        "/api/v1/acknowledgements",
        status_code=201,
        responses={201: {"model": AcknowledgementShape}, **documented(404)},
    )
    def acknowledge(
        request: Request, new: NewAcknowledgement, person: Person = Depends(guard.needs(Role.RUNNER))
    ) -> Response:
        """What is said last of a change counts."""
        if not house.now.holds(new.series_id, new.record_id):
            raise NotThere("There is no such record in that series; /api/v1/series/ID has the changes.")
        made = kept.add(new.series_id, new.record_id, new.text, person.name)
        guard.book.note(person.name, "acknowledge", new.record_id, "ok", address_of(request))
        return Response(dumped(asdict(made)), 201, media_type=JSON)

    return router


MEMBER = routes
