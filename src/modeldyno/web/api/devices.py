"""/api/v1/devices: devices that there are results of."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._shapes import All, DeviceShape
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    def devices(snapshot: Snapshot) -> list[dict[str, Any]]:
        here = {device.fingerprint for probe in house.probes for device in probe.devices}
        return [row | {"here": row["device_id"] in here} for row in snapshot.devices()]

    @router.get("/api/v1/devices", responses={200: {"model": All[DeviceShape]}})
    async def list_devices(request: Request) -> Response:
        """All devices, with how many results they gave."""
        return await answers.short(request, lambda snapshot: {"items": devices(snapshot)})

    @router.get("/api/v1/devices/{device_id}", responses={200: {"model": DeviceShape}, **documented(404)})
    async def one_device(request: Request, device_id: str) -> Response:
        """One device by its fingerprint."""

        def make(snapshot: Snapshot) -> dict[str, Any]:
            found = next((row for row in devices(snapshot) if row["device_id"] == device_id), None)
            if found is None:
                raise NotThere(f"There is no device {device_id[:40]}; /api/v1/devices lists all.")
            return found

        return await answers.short(request, make)

    return router


MEMBER = routes
