"""The compatibility matrix: what works decides, and advice names only what worked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from modeldyno.analysis.compatibility import Cell, Matrix, matrix
from modeldyno.core.types import Status
from modeldyno.store.outcomes import Try

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def tried(platform: str, status: str = "ok", *, day: int = 0, speed: float | None = None, **changes: Any) -> Try:
    fields = {"workload": "inference", "runtime": "torch", "precision": "fp32", "batch": 1, "shape": {"seq": 8}}
    fields |= {"model": "m", "reason": None if status == "ok" else f"{status} on day {day}"} | changes
    moment = BEGIN + timedelta(days=day)
    return Try(outcome_id=f"{day}", platform=platform, status=Status(status), moment=moment, per_s=speed, **fields)


def from_test(platform: str, status: str = "ok", **changes: Any) -> Try:
    return Try("t", "m", platform, Status(status), BEGIN, **changes)


def only(found: Matrix) -> Cell:
    (cell,) = found.cells
    return cell


def at(found: Matrix, platform: str) -> Cell:
    return next(cell for cell in found.cells if (cell.model, cell.platform) == ("m", platform))


def test_any_way_that_works_makes_it_ok() -> None:
    cell = only(matrix([tried("cpu", "failed", day=2), tried("cpu", day=1, runtime="onnxruntime")]))
    assert cell.status == "ok"
    assert [(way.decisive.runtime, way.decisive.status) for way in cell.ways] == [
        ("torch", "failed"),
        ("onnxruntime", "ok"),
    ]


def test_a_host_without_the_device_says_nothing_against_one_that_has_it() -> None:
    there, absent = tried("cuda", batch=8, day=1), tried("cuda", "skipped", day=2, met_device=False)
    way = only(matrix([there, absent])).ways[0]
    assert (way.decisive.status, way.partly) == ("ok", ())
    assert only(matrix([absent])).status == "skipped"


def test_a_larger_batch_that_fails_later_makes_it_partly() -> None:
    cell = only(matrix([tried("cpu", batch=1, day=1), tried("cpu", "failed", batch=512, day=2)]))
    assert cell.status == "ok"
    assert [(one.status, one.batch) for one in cell.ways[0].partly] == [("failed", 512)]


def test_where_nothing_works_the_newest_reason_is_told() -> None:
    cell = only(matrix([tried("cpu", "failed", day=1, batch=8), tried("cpu", "failed", day=2)]))
    assert cell.best.decisive.reason == "failed on day 2"


def test_advice_is_the_same_platform_first_then_the_fastest() -> None:
    found = matrix(
        [
            tried("cuda", "failed"),
            tried("cuda", precision="bf16", speed=5.0),
            tried("cpu", speed=10.0),
            tried("openvino", runtime="openvino", speed=30.0),
            tried("mps", precision="fp16", speed=99.0),
            tried("rocm", "failed"),
            tried("cpu", model="other", speed=1000.0),
        ]
    )
    bad = next(way for way in at(found, "cuda").ways if way.decisive.status == "failed")
    assert [one.platform for one in bad.instead] == ["cuda", "openvino", "cpu", "mps"]
    assert [one.platform for one in at(found, "rocm").best.instead][:2] == ["openvino", "cpu"]
    assert at(found, "cuda").best.instead == ()


def test_advice_is_for_the_same_work() -> None:
    found = matrix(
        [
            tried("cuda", "failed", batch=64),
            tried("cpu", batch=64, speed=10.0),
            tried("cpu", batch=1, speed=50.0),
            tried("mps", batch=1, speed=90.0),
            tried("rocm", workload="training", batch=64, speed=500.0),
        ]
    )
    assert [(one.platform, one.batch) for one in at(found, "cuda").best.instead] == [("cpu", 64), ("mps", 1)]


def test_what_works_in_inference_may_fail_in_training() -> None:
    cell = only(matrix([tried("cpu", "failed", workload="training"), tried("cpu")]))
    assert [(way.decisive.workload, way.decisive.status) for way in cell.ways] == [
        ("training", "failed"),
        ("inference", "ok"),
    ]
    assert cell.ways[0].instead == ()


def test_without_anything_that_worked_there_is_no_advice() -> None:
    cell = only(matrix([tried("cpu", "invalid")]))
    assert (cell.status, cell.best.instead, cell.best.decisive.reason) == ("invalid", (), "invalid on day 0")
    assert matrix([]) == Matrix((), (), ())


def test_tests_count_and_take_any_measurement_for_advice() -> None:
    found = matrix([tried("cpu", speed=1.0), from_test("webgpu", "failed", reason="no adapter"), from_test("webnn")])
    assert found.platforms == ("cpu", "webgpu", "webnn")
    cell = at(found, "webgpu")
    assert (cell.status, cell.best.decisive.reason) == ("failed", "no adapter")
    assert {one.platform for one in cell.best.instead} == {"cpu", "webnn"}
