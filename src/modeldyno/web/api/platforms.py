"""/api/v1/platforms: which hardware this server has; for each absent platform why, and what to do."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from modeldyno.core.types import Probe
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._shapes import All, PlatformShape
from modeldyno.web.house import House


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/platforms", responses={200: {"model": All[PlatformShape]}})
    async def list_platforms(request: Request) -> Response:
        """Devices, or a reason and a remedy; looked at when the server was started."""
        return await answers.long(request, lambda _: {"items": [_document(probe) for probe in house.probes]})

    return router


def _document(probe: Probe) -> dict[str, Any]:
    devices = [device.model_dump(mode="json") | {"fingerprint": device.fingerprint} for device in probe.devices]
    return probe.model_dump(mode="json") | {"present": probe.present, "devices": devices}


MEMBER = routes
