"""The compatibility matrix: real outcomes decide, and advice names only what worked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

from modeldyno.analysis.compatibility import Cell, Matrix, matrix, tries
from modeldyno.core.elsewhere import TestResult
from modeldyno.core.types import Case, Device, MetricValue, Record

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def record(
    platform: str, status: str = "ok", *, day: int = 0, speed: float | None = None, device: bool = True, **changes: Any
) -> Record:
    case = {key: changes.pop(key) for key in ("model", "runtime", "precision", "batch") if key in changes}
    reason = None if status == "ok" else f"{status} on day {day}"
    emulated = bool(changes.pop("emulated", False))
    return Record.model_validate(
        {
            "run_id": f"run {day}",
            "case": Case.model_validate({"model": "m", "runtime": "torch", "platform": platform} | case),
            "status": status,
            "reason": reason,
            "started_at": BEGIN + timedelta(days=day),
            "device": Device(platform=platform, index=0, name="Chip", emulated=emulated) if device else None,
            "metrics": {"throughput_per_s": MetricValue(value=speed)} if speed else {},
        }
        | changes
    )


def made(*records: Record, tests: tuple[TestResult, ...] = ()) -> Matrix:
    return matrix(tries(records, tests))


def only(found: Matrix) -> Cell:
    (cell,) = found.cells
    return cell


def at(found: Matrix, platform: str) -> Cell:
    return next(cell for cell in found.cells if (cell.model, cell.platform) == ("m", platform))


def test_the_newest_outcome_decides() -> None:
    assert only(made(record("cpu", day=1), record("cpu", "failed", day=2))).status == "failed"
    cell = only(made(record("cpu", "failed", day=1), record("cpu", day=2)))
    assert (cell.status, cell.best.decisive.reason) == ("ok", None)


def test_any_way_that_works_makes_it_ok() -> None:
    cell = only(made(record("cpu", "failed", day=2), record("cpu", day=1, runtime="onnxruntime")))
    assert cell.status == "ok"
    assert [(way.decisive.runtime, way.decisive.status) for way in cell.ways] == [
        ("torch", "failed"),
        ("onnxruntime", "ok"),
    ]


def test_a_host_without_the_device_says_nothing_against_one_that_has_it() -> None:
    there, absent = record("cuda", day=1), record("cuda", "skipped", day=2, device=False)
    assert only(made(there, absent)).status == "ok"
    assert only(made(absent)).status == "skipped"
    assert only(made(there, record("cuda", "skipped", day=2))).status == "skipped", "the device was there and refused"


def test_a_larger_batch_that_fails_in_the_same_run_is_told() -> None:
    cell = only(made(record("cpu", batch=1), record("cpu", "failed", batch=64)))
    assert cell.status == "ok"
    assert [one.status for one in cell.ways[0].partly] == ["failed"]


def test_advice_is_the_same_platform_first_then_the_fastest() -> None:
    found = made(
        record("cuda", "failed"),
        record("cuda", precision="bf16", speed=5.0),
        record("cpu", speed=10.0),
        record("openvino", runtime="openvino", speed=30.0),
        record("mps", precision="fp16", speed=99.0),
        record("rocm", "failed"),
        record("cpu", model="other", speed=1000.0),
    )
    bad = next(way for way in at(found, "cuda").ways if way.decisive.status == "failed")
    assert [one.platform for one in bad.instead] == ["cuda", "openvino", "cpu", "mps"]
    assert [one.platform for one in at(found, "rocm").best.instead][:2] == ["openvino", "cpu"]
    assert at(found, "cuda").best.instead == ()


def test_without_anything_that_worked_there_is_no_advice() -> None:
    cell = only(made(record("cpu", "invalid")))
    assert (cell.status, cell.best.instead, cell.best.decisive.reason) == ("invalid", (), "invalid on day 0")


def test_what_is_not_real_takes_no_part() -> None:
    unreal = [record("cpu", provenance=kind) for kind in ("simulated", "predicted")]
    assert made(*unreal, record("qnn", emulated=True)) == Matrix((), (), ())


def test_imported_tests_count() -> None:
    test = TestResult(run_id="t", name="n", model="m", platform="webgpu", status="failed", reason="no adapter")
    made_up = TestResult(run_id="t", name="n", model="m", platform="webnn", status="ok", provenance="simulated")
    nameless = TestResult(run_id="t", name="n", status="ok")
    found = made(record("cpu", speed=1.0), tests=(test, made_up, nameless))
    assert (found.models, found.platforms) == (("m",), ("cpu", "webgpu"))
    cell = at(found, "webgpu")
    assert (cell.status, cell.best.decisive.reason, cell.best.instead[0].platform) == ("failed", "no adapter", "cpu")
