"""/api/v1/recommendations: which hardware should run a model, and how."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.advise.ask import answer
from modeldyno.advise.documents import recommendation
from modeldyno.advise.prices import read_prices
from modeldyno.advise.recommend import Advice, Question
from modeldyno.advise.wishes import Goal, Wishes, read_wishes
from modeldyno.predict.stored import LATENCY
from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api import _services
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import ModelName, Sizes, check_named, sizes_of
from modeldyno.web.api.predictions import is_trained
from modeldyno.web.house import House

_LEARNED = ("memory_peak_mb", "energy_j")
"""Metrics with a predictor of their own."""


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/recommendations", responses={200: {"model": _services.Advice}})
    async def recommendations(
        request: Request,
        model: ModelName,
        goal: Goal = Goal.LATENCY,
        slo: Annotated[str | None, Query(max_length=60, description="A limit on the step time: p95=20ms.")] = None,
        max_memory: Annotated[str | None, Query(max_length=60, description="Of the peak: 8GB.")] = None,
        budget_per_hour: Annotated[float | None, Query(gt=0, le=1e9, description="In USD.")] = None,
        workload: Literal["inference", "training"] = "inference",
        shape: Sizes = None,
        available: Annotated[bool, Query(description="Only devices that this server has.")] = False,
        measured: Annotated[bool, Query(description="Without predictions.")] = False,
    ) -> Response:
        """Candidates with their evidence, the choice and its risk."""
        wishes = read_wishes(goal, slo, max_memory, budget_per_hour)
        question = Question(check_named(model), wishes, workload, sizes_of(shape), available)

        def make(_: Snapshot) -> dict[str, Any]:
            predict = not measured and all(is_trained(house, name) for name in _needed(wishes))
            return recommendation(_answer(house, question, predict)) | {"predicted": predict}

        return await answers.long(request, make)

    return router


def _needed(wishes: Wishes) -> list[str]:
    asked = {wishes.goal.metric, *(limit.figure for limit in wishes.limits)}
    return [LATENCY, *(name for name in _LEARNED if name in asked)]


def _answer(house: House, question: Question, predict: bool) -> Advice:
    here = tuple(device for probe in house.probes for device in probe.devices)
    return answer(house.store, question, read_prices(None), predict=predict, here=here)


MEMBER = routes
