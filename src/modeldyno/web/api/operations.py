"""/healthz and /metrics: whether the server is well, for those who watch over it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any

from fastapi import APIRouter, Depends
from starlette.responses import Response

from modeldyno import __version__
from modeldyno.core.errors import DynoError
from modeldyno.store.database import connect
from modeldyno.store.query import Filter
from modeldyno.web.access.guard import Guard
from modeldyno.web.access.roles import Role
from modeldyno.web.answers import JSON, dumped
from modeldyno.web.api._services import Health
from modeldyno.web.house import House
from modeldyno.web.jobs.types import State
from modeldyno.web.passage import BOUNDS, Figures
from modeldyno.web.problems import documented

_TEXT = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[dict[str, Any], float]


def routes(house: House, guard: Guard) -> APIRouter:
    router = APIRouter()
    ages = _Ages()

    @router.get("/healthz", responses={200: {"model": Health}, 503: {"model": Health, "description": "Not well."}})
    def healthz() -> Response:
        """Whether the store can be read and the queue be asked; open to all, and says nothing that is secret."""
        found = _health(house, ages)
        status = 200 if found["status"] == "ok" else 503
        return Response(dumped(found), status, {"Cache-Control": "no-store"}, JSON)

    @router.get(
        "/metrics",
        response_class=Response,
        responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}}, **documented(401, 403)},
        dependencies=[Depends(guard.needs(Role.VIEWER))],
    )
    def metrics() -> Response:
        """In the text format of Prometheus."""
        return Response("".join(_lines(house, ages)), media_type=_TEXT)

    return router


class _Ages:
    """Since when the snapshot is the same."""

    def __init__(self) -> None:
        self._version, self._since = "", time.monotonic()

    def of(self, version: str) -> float:
        if version != self._version:
            self._version, self._since = version, time.monotonic()
        return time.monotonic() - self._since


def _health(house: House, ages: _Ages) -> dict[str, Any]:
    store, queue = _store(house), _queue(house)
    return {
        "status": "ok" if store == queue == "ok" else "not well",
        "version": __version__,
        "store": store,
        "results": house.now.count(Filter()),
        "snapshot_age_s": round(ages.of(house.now.version), 3),
        "queue": queue,
    }


def _store(house: House) -> str:
    try:
        with connect(house.store.existing(), write=False):
            return "ok"
    except DynoError as error:
        return str(error)


def _queue(house: House) -> str:
    try:
        house.queue.waiting()
    except DynoError as error:
        return str(error)
    return (house.dispatcher.problem if house.dispatcher else None) or "ok"


def _lines(house: House, ages: _Ages) -> Iterator[str]:
    figures: Figures = house.figures
    requests = [
        ({"method": method, "route": route, "status": status}, float(number))
        for (method, route, status), number in sorted(figures.requests.copy().items())
    ]
    yield from _family("dyno_requests_total", "counter", "Requests by route.", requests)
    yield from _histogram(figures)
    yield from _family("dyno_results", "gauge", "Results in the snapshot.", [({}, float(house.now.count(Filter())))])
    yield from _family("dyno_snapshot_age_seconds", "gauge", "Since it changed.", [({}, ages.of(house.now.version))])
    yield from _family("dyno_store_bytes", "gauge", "Size of the store.", [({}, float(_size(house)))])
    states: list[Sample] = [({"state": state.value}, float(_jobs(house, state))) for state in State]
    yield from _family("dyno_jobs", "gauge", "Jobs by state; at most 1000 are counted.", states)
    alerts: list[Sample] = [({}, float(len(house.queue.alerts(unseen=True, limit=1000))))]
    yield from _family("dyno_alerts_unseen", "gauge", "Alerts that nobody has seen; at most 1000.", alerts)


def _histogram(figures: Figures) -> Iterator[str]:
    """Each bucket counts all that were faster."""
    name = "dyno_request_seconds"
    yield f"# HELP {name} How long requests took.\n# TYPE {name} histogram\n"
    totals: dict[str, int] = {}
    for (_, route, _status), number in figures.requests.copy().items():
        totals[route] = totals.get(route, 0) + number
    for route, total in sorted(totals.items()):
        for bound in BOUNDS:
            yield _sample(f"{name}_bucket", {"route": route, "le": f"{bound:g}"}, figures.seconds[route, bound])
        yield _sample(f"{name}_bucket", {"route": route, "le": "+Inf"}, total)
        yield _sample(f"{name}_sum", {"route": route}, figures.sums[route])
        yield _sample(f"{name}_count", {"route": route}, total)


def _family(name: str, kind: str, about: str, samples: Iterable[Sample]) -> Iterator[str]:
    yield f"# HELP {name} {about}\n# TYPE {name} {kind}\n"
    for labels, value in samples:
        yield _sample(name, labels, value)


def _sample(name: str, labels: dict[str, Any], value: float) -> str:
    inside = ",".join(f'{key}="{_escaped(str(text))}"' for key, text in labels.items())
    return f"{name}{{{inside}}} {value:.12g}\n" if inside else f"{name} {value:.12g}\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")


def _size(house: House) -> int:
    return house.store.path.stat().st_size if house.store.path.exists() else 0


def _jobs(house: House, state: State) -> int:
    return len(house.queue.jobs([state], limit=1000))


MEMBER = routes
