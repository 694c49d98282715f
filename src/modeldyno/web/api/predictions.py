"""/api/v1/predictions: numbers that nobody measured, from a predictor that was trained before."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.predict.asking import Wanted, answer_model
from modeldyno.predict.asking import predictions as document
from modeldyno.predict.predictor import Predictor
from modeldyno.predict.stored import kept_predictor, standing
from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import Many, ModelName, NotNow, Sizes, check_named, sizes_of
from modeldyno.web.api._services import Predictions
from modeldyno.web.house import House
from modeldyno.web.problems import documented

Metric = Literal["latency_ms", "memory_peak_mb", "energy_j"]
_Words = Annotated[Many | None, Query(max_length=50)]


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/predictions", responses={200: {"model": Predictions}, **documented(409)})
    async def predictions(
        request: Request,
        model: ModelName,
        on: _Words = None,
        runtime: _Words = None,
        precision: _Words = None,
        batch: Annotated[int, Query(ge=1, le=65536)] = 1,
        shape: Sizes = None,
        metric: Metric = "latency_ms",
    ) -> Response:
        """On each device that is known, in each way that was seen there; the fastest first.

        By the predictor that was trained last, however old; 409 where there is none."""
        words = tuple(on or ()), tuple(runtime or ()), tuple(precision or ())
        wanted = Wanted(check_named(model), *words, batch, sizes_of(shape), metric)

        def make(_: Snapshot) -> dict[str, Any]:
            rows = answer_model(house.store, wanted, predictor=_predictor(house, metric))
            return document(wanted, rows) | {"stale": not is_trained(house, metric)}

        return await answers.long(request, make)

    return router


def is_trained(house: House, metric: str) -> bool:
    """Whether the predictor that is kept knows all results; found out once for each state of the store."""
    return house.shelf.kept(("trained", metric), lambda _: _is_trained(house, metric))


def _is_trained(house: House, metric: str) -> bool:
    return kept_predictor(house.store, metric) is not None and not standing(house.store, metric).stale


def _predictor(house: House, metric: str) -> Predictor:
    """Learning takes minutes, and is not for a request."""
    if found := kept_predictor(house.store, metric):
        return found
    raise NotNow(
        f"No predictor of {metric} has been trained; run dyno predict train --store {house.store.path.name} "
        "on the server, and ask again."
    )


MEMBER = routes
