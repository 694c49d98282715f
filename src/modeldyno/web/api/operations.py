"""/healthz and /metrics: whether the server is well, for those who watch over it."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from typing import Any, Literal

from fastapi import APIRouter, Depends
from pydantic import Field
from starlette.responses import Response

from modeldyno import __version__
from modeldyno.core.errors import DynoError
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.access.roles import Role
from modeldyno.web.answers import JSON, dumped
from modeldyno.web.api._shapes import Shape
from modeldyno.web.house import House
from modeldyno.web.passage import BOUNDS, Figures
from modeldyno.web.problems import documented

_TEXT = "text/plain; version=0.0.4; charset=utf-8"
Sample = tuple[dict[str, Any], float]


class Health(Shape):
    status: Literal["ok", "degraded"]
    version: str
    alive: bool = Field(description="Whether new results are still read; where not, the answer is 503.")
    behind: bool = Field(description="Whether the store has results that are not read yet.")
    results: int | None
    snapshot_age_s: float | None = Field(description="Since the results that are answered from changed.")
    store: str | None = Field(description="Why no results could be read since the start; then the answer is 503.")
    queue: str | None = Field(description="Why the queue of jobs cannot be read.")
    dispatcher: str | None = Field(description="What keeps jobs from being started.")
    webhook: str | None = Field(description="Why the newest alert could not be delivered.")


def routes(house: House, guard: Guard) -> APIRouter:
    router = APIRouter()
    ages = _Ages()

    stale = {"model": Health, "description": "There are no results to answer from, or new ones are not read."}

    @router.get("/healthz", responses={200: {"model": Health}, 503: stale})
    def healthz() -> Response:
        """Whether the server does all it should, without a look at the store; open to all, and tells no secret."""
        found = _health(house, ages)
        status = 200 if found.alive and found.store is None else 503
        return Response(dumped(found.model_dump()), status, {"Cache-Control": "no-store"}, JSON)

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


def _health(house: House, ages: _Ages) -> Health:
    """Of what the server knows already: to open the store would keep from it those who write."""
    (snapshot, unread), alive = _snapshot(house), house.shelf.alive
    problems = {"store": unread, **_problems(house)}
    return Health(
        status="ok" if alive and not any(problems.values()) else "degraded",
        version=__version__,
        alive=alive,
        behind=house.shelf.behind,
        results=snapshot.count(Filter()) if snapshot else None,
        snapshot_age_s=round(ages.of(snapshot.version), 3) if snapshot else None,
        **problems,
    )


def _snapshot(house: House) -> tuple[Snapshot | None, str | None]:
    try:
        return house.now, None
    except DynoError as error:
        return None, str(error)


def _problems(house: House) -> dict[str, str | None]:
    return {
        "queue": _queue(house),
        "dispatcher": house.dispatcher.problem if house.dispatcher else None,
        "webhook": house.webhook.problem if house.webhook else None,
    }


def _queue(house: House) -> str | None:
    try:
        house.queue.counts()
    except DynoError as error:
        return str(error)
    return None


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
    states: list[Sample] = [({"state": state.value}, float(count)) for state, count in house.queue.counts().items()]
    yield from _family("dyno_jobs", "gauge", "Jobs by state.", states)
    alerts: list[Sample] = [({}, float(house.queue.unseen()))]
    yield from _family("dyno_alerts_unseen", "gauge", "Alerts that nobody has seen.", alerts)


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


MEMBER = routes
