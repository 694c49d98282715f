"""The plan's paths, /api/models and so on: the same results, in the columns that the plan's tables have."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import partial
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import Response

from modeldyno.core.elsewhere import TestResult
from modeldyno.core.types import Status
from modeldyno.platforms import in_browsers
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order, Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import USUAL_ROWS, Chosen, Limit
from modeldyno.web.api._services import PlanRow
from modeldyno.web.api.models import all_models
from modeldyno.web.house import House

Row = dict[str, Any]


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)
    listed: Any = {200: {"model": list[PlanRow]}}

    @router.get("/api/models", responses=listed)
    async def plan_models(request: Request) -> Response:
        """As the table `models`."""
        return await answers.short(request, lambda snapshot: [_model(row) for row in all_models(snapshot)])

    @router.get("/api/hardware", responses=listed)
    async def plan_hardware(request: Request) -> Response:
        """As the table `hardware_platforms`."""
        return await answers.short(request, lambda snapshot: _hardware(house, snapshot))

    def of_results(path: str, about: str, document: Callable[[Row], Row], narrow: Filter) -> None:
        async def rows(request: Request, chosen: Chosen, limit: Limit = USUAL_ROWS) -> Response:
            return await answers.short(request, partial(_rows, chosen.narrowed(narrow), limit, document))

        rows.__doc__ = about
        router.add_api_route(path, rows, methods=["GET"], responses=listed, name=path.rpartition("/")[2])

    of_results("/api/performance", "As the table `performance_results`.", _performance, Filter(status=(Status.OK,)))
    of_results("/api/compatibility", "As the table `hardware_compatibility`.", _compatible, Filter())
    of_results("/api/web-platform", "As the table `web_platform_results`.", _web, Filter(platform=in_browsers()))

    @router.get("/api/tests", responses=listed)
    async def plan_tests(request: Request, limit: Limit = USUAL_ROWS) -> Response:
        """As the table `test_results`: tests that ran without measuring, the newest first."""
        return await answers.long(
            request, lambda snapshot: [_test(one) for one in snapshot.store.tests()[: -limit - 1 : -1]]
        )

    return router


def _rows(chosen: Filter, limit: int, document: Callable[[Row], Row], snapshot: Snapshot) -> list[Row]:
    return [document(row) for row in snapshot.results(chosen, Order(), limit)]


def _model(row: Row) -> Row:
    return {
        "model_id": row["id"] or row["name"],
        "model_name": row["name"],
        "model_family": row["family"],
        "modality": row["architecture"],
        "parameters": row["parameters"],
    }


def _hardware(house: House, snapshot: Snapshot) -> list[Row]:
    devices = [
        {
            "hardware_id": row["device_id"],
            "hardware_type": row["platform"],
            "device_name": row["name"],
            "memory_gb": None if row["memory_mb"] is None else row["memory_mb"] / 1024,
            "compute_capability": row["capability"],
            "is_emulated": row["emulated"],
        }
        for row in snapshot.devices()
    ]
    here = [
        {"hardware_id": probe.platform, "hardware_type": probe.platform, "is_available": probe.present}
        | {"reason": probe.reason, "remedy": probe.remedy}
        for probe in house.probes
    ]
    return devices + here


def _performance(row: Row) -> Row:
    return _common(row) | {
        "result_id": row["record_id"],
        "test_case": row["workload"],
        "batch_size": row["batch"],
        "precision": row["precision"],
        "sequence_length": json.loads(row["shape"]).get("seq"),
        "total_time_seconds": row["duration_s"],
        "average_latency_ms": row["latency_ms"],
        "throughput_items_per_second": row["throughput_per_s"],
        "memory_peak_mb": row["memory_peak_mb"],
        "verdict": row["verdict"],
    }


def _compatible(row: Row) -> Row:
    return _common(row) | {
        "compatibility_id": row["record_id"],
        "is_compatible": row["status"] == "ok",
        "error_message": row["reason"],
        "suggested_fix": row["remedy"],
    }


def _web(row: Row) -> Row:
    return _common(row) | {
        "result_id": row["record_id"],
        "platform": row["platform"],
        "browser": json.loads(row["options"]).get("browser"),
        "success": row["status"] == "ok",
        "load_time_ms": row["load_ms"],
        "inference_time_ms": row["latency_ms"],
        "memory_usage_mb": row["memory_peak_mb"],
        "throughput_items_per_second": row["throughput_per_s"],
        "error_message": row["reason"],
    }


def _common(row: Row) -> Row:
    return {
        "run_id": row["run_id"],
        "model_name": row["model"],
        "hardware_id": row["device_id"] or row["platform"],
        "hardware_type": row["platform"],
        "device_name": row["device"],
        "provenance": row["provenance"],
        "created_at": row["started_at"],
    }


def _test(test: TestResult) -> Row:
    return {
        "test_id": test.test_id,
        "run_id": test.run_id,
        "test_name": test.name,
        "model_name": test.model,
        "hardware_type": test.platform,
        "status": test.status.value,
        "success": test.status.value == "ok",
        "error_message": test.reason,
        "execution_time_seconds": test.duration_s,
        "provenance": test.provenance.value,
        "created_at": test.started_at,
    }


MEMBER = routes
