"""The few columns of a history are those of the whole records."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from blank_store import blank_store
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.policy import GATE
from modeldyno.core.types import Case, Device, Host, MetricValue, Provenance, Record, Run, Status
from modeldyno.store.points import read_series
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def run(day: int, host: str = "a", commit: str | None = "c0") -> Run:
    moment = BEGIN + timedelta(days=day)
    return Run(
        started_at=moment, host=Host(host_id=host, hostname=f"{host}-name"), command="c", version="0", commit=commit
    )


def record(of: Run, value: float | None, batch: int = 1, **changes: object) -> Record:
    fields = {
        "run_id": of.run_id,
        "case": Case(model="m", platform="cpu", runtime="torch", batch=batch, shape={"seq": 8}, options={"threads": 2}),
        "status": Status.OK,
        "started_at": of.started_at,
        "device": Device(platform="cpu", index=0, name="Chip", driver="d1"),
        "metrics": {} if value is None else {"latency_ms": MetricValue(value=value, low=value - 1, high=value + 1)},
        "software": {"torch": "2", "numpy": "1"},
        **changes,
    }
    return Record.model_validate(fields)


@pytest.fixture
def store(tmp_path: Path) -> Store:
    made = blank_store(tmp_path / "s.duckdb")
    late, early = run(2, "b", None), run(1)
    made.add([late, early, record(late, 7.0, record_id="0" * 26), record(early, 5.0), record(early, 9.0, batch=4)])
    made.add([record(early, None, batch=4, status=Status.FAILED, reason="broke")])
    return made


def test_points_come_in_order_of_time_with_what_their_run_knows(store: Store) -> None:
    (series,) = read_series(store, Filter(batch=(1,)), "latency_ms")
    records = store.records(Filter(batch=(1,)))
    assert {series.series_id} == {found.series_id for found in records}
    assert series.case == records[0].case
    assert series.device == "Chip"
    first, second = series.points
    assert (first.value, first.low, first.high, first.commit) == (5.0, 4.0, 6.0, "c0")
    assert first.host == Host(host_id="a", hostname="a-name")
    assert (second.value, second.commit, second.host_id, second.driver) == (7.0, None, "b", "d1")
    assert second.software == (("numpy", "1"), ("torch", "2"))
    assert second.started_at == BEGIN + timedelta(days=2)
    assert (first.status, first.provenance) == (Status.OK, Provenance.MEASURED)


def test_a_host_is_told_as_it_was_then_and_the_device_by_its_slot(tmp_path: Path) -> None:
    made = blank_store(tmp_path / "s.duckdb")
    for day in range(2):
        host = Host(host_id="a", cpu="Chip", system=f"Linux {day}")
        of = run(day).model_copy(update={"host": host})
        kept = record(of, 5.0)
        made.add([of, kept.model_copy(update={"case": kept.case.model_copy(update={"index": day})})])
    (series,) = read_series(made, Filter(), "latency_ms")
    assert [(point.host.system, point.index) for point in series.points] == [("Linux 0", 0), ("Linux 1", 1)]


def test_what_has_no_number_is_there_without_one(store: Store) -> None:
    (series,) = read_series(store, Filter(batch=(4,)), "latency_ms")
    assert sorted((point.status.value, point.value) for point in series.points) == [("failed", None), ("ok", 9.0)]
    assert [point.value for point in read_series(store, Filter(batch=(1,)), "energy_j")[0].points] == [None, None]


def test_the_runs_of_a_gate_are_no_history(tmp_path: Path) -> None:
    made = blank_store(tmp_path / "s.duckdb")
    for day, effort in enumerate(("default", GATE)):
        of = run(day).model_copy(update={"effort": effort})
        made.add([of, record(of, 5.0)])
    (series,) = read_series(made, Filter(), "latency_ms")
    assert len(series.points) == 1


def test_filters_choose_and_bad_names_are_refused(store: Store, tmp_path: Path) -> None:
    assert len(read_series(store, Filter(), "latency_ms")) == 2
    assert read_series(store, Filter(model=("other",)), "latency_ms") == []
    with pytest.raises(UnknownName):
        read_series(store, Filter(), "latency_ms FROM records; --")
    with pytest.raises(InputError):
        read_series(Store(tmp_path / "none.duckdb"), Filter(), "latency_ms")


def test_an_emulator_is_told_from_hardware(tmp_path: Path) -> None:
    made = blank_store(tmp_path / "s.duckdb")
    of = run(1)
    soft = Device(platform="cpu", index=0, name="Chip", emulated=True)
    nowhere = record(of, 5.0, batch=2, device=None)
    made.add([of, record(of, 5.0), record(of, 5.0, batch=4, device=soft), nowhere])
    found = {series.case.batch: series.emulated for series in read_series(made, Filter(), "latency_ms")}
    assert found == {1: False, 2: False, 4: True}
