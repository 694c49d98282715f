"""The few columns of compatibility: the newest of each case, of what is real."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from blank_store import blank_store
from modeldyno.core.elsewhere import TestResult
from modeldyno.core.types import Case, Device, Host, MetricValue, Provenance, Record, Run
from modeldyno.store.outcomes import Try, read_tries
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
REAL = (Provenance.MEASURED, Provenance.IMPORTED)
RUN = Run(started_at=BEGIN, host=Host(host_id="h"), command="c", version="0")


def record(status: str = "ok", day: int = 0, device: bool = True, emulated: bool = False, **changes: Any) -> Record:
    case = Case.model_validate(
        {"model": "m", "platform": "cuda", "runtime": "torch", "shape": {"seq": 8}} | changes.pop("case", {})
    )
    fields = {
        "run_id": RUN.run_id,
        "case": case,
        "status": status,
        "reason": None if status == "ok" else f"{status} on day {day}",
        "started_at": BEGIN + timedelta(days=day),
        "device": Device(platform="cuda", index=0, name="Chip", emulated=emulated) if device else None,
        "metrics": {"throughput_per_s": MetricValue(value=5.0)} if status == "ok" else {},
    }
    return Record.model_validate(fields | changes)


def outcome_of_test(name: str, status: str, day: int = 0, **changes: Any) -> TestResult:
    fields = {"run_id": RUN.run_id, "name": name, "model": "m", "platform": "webgpu", "status": status}
    return TestResult.model_validate(fields | {"started_at": BEGIN + timedelta(days=day)} | changes)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return blank_store(tmp_path / "s.duckdb")


def told(store: Store, *items: Record | TestResult, **chosen: Any) -> list[Try]:
    store.add([RUN, *items])
    return read_tries(store, Filter(provenance=REAL, **chosen))


def test_all_of_a_case_is_there(store: Store) -> None:
    (one,) = told(store, record(case={"batch": 4, "workload": "training"}))
    assert (one.model, one.platform, one.workload, one.runtime, one.precision) == (
        "m",
        "cuda",
        "training",
        "torch",
        "fp32",
    )
    assert (one.batch, one.shape, one.status, one.per_s, one.met_device) == (4, {"seq": 8}, "ok", 5.0, True)
    assert one.moment == BEGIN


@pytest.mark.parametrize(("first", "second"), [("ok", "failed"), ("failed", "ok")])
def test_the_newest_outcome_of_a_case_is_taken(store: Store, first: str, second: str) -> None:
    batch = record("invalid", day=1, case={"batch": 8})
    found = told(store, record(second, day=2), record(first, day=1, device=first == "ok"), batch)
    assert sorted((one.batch, one.status.value) for one in found) == [(1, second), (8, "invalid")]


def test_a_newer_run_without_the_device_does_not_hide_what_happened(store: Store) -> None:
    (one,) = told(store, record(day=1), record("skipped", day=2, device=False))
    assert one.status == "ok"
    (one,) = read_tries(store, Filter(since=BEGIN + timedelta(days=2)))
    assert (one.status, one.met_device, one.reason) == ("skipped", False, "skipped on day 2")


def test_what_is_not_real_and_what_is_no_model_take_no_part(store: Store) -> None:
    made_up = [record(provenance=kind) for kind in ("simulated", "predicted")]
    assert told(store, *made_up, record(emulated=True), record(case={"workload": "hardware"})) == []
    assert told(store, outcome_of_test("n", "ok", provenance="simulated"), outcome_of_test("n", "ok", model=None)) == []


def test_of_tests_the_newest_of_each_name_is_taken(store: Store) -> None:
    tests = [
        outcome_of_test("a", "ok", 1),
        outcome_of_test("a", "failed", 2, reason="no adapter"),
        outcome_of_test("b", "ok", 0),
    ]
    found = told(store, *tests)
    assert sorted((one.status.value, one.reason) for one in found) == [("failed", "no adapter"), ("ok", None)]
    assert {(one.workload, one.runtime, one.batch) for one in found} == {(None, None, None)}
    assert len(read_tries(store, Filter(model=("M",), until=BEGIN + timedelta(days=1)))) == 1
    assert read_tries(store, Filter(model=("other",))) == []
    for asked in ({"runtime": ("torch",)}, {"batch": (1,)}, {"device": ("chip",)}, {"series_id": ("s",)}):
        assert read_tries(store, Filter(**asked)) == []
