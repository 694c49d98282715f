"""The newest record of each series: no device, run or case pushes another out of sight."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

from blank_store import blank_store
from modeldyno.core.types import Case, Device, Host, Provenance, Record, Run, Status
from modeldyno.store.find import hosts_of_runs
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def made(path: Path, device: Device | None) -> Store:
    """Two runs; in each two batches on two equal devices, twice."""
    store = blank_store(path / "s.duckdb")
    runs = [Run(host=Host(host_id=name), command="c", version="0") for name in "ab"]
    records = [
        Record(
            run_id=run.run_id,
            case=Case(model="m", platform="cuda", runtime="torch", batch=batch, index=index),
            status=Status.OK,
            started_at=BEGIN + timedelta(days=day, hours=again),
            device=device and device.model_copy(update={"index": index}),
        )
        for day, run in enumerate(runs)
        for again in range(2)
        for batch in (1, 8)
        for index in (0, 1)
    ]
    # Which is the newest does not follow from the order they came in.
    store.add([*runs, *reversed(records)])
    return store


def test_of_each_series_and_device_slot_the_newest_is_read(tmp_path: Path) -> None:
    store = made(tmp_path, Device(platform="cuda", index=0, name="Chip"))
    found = store.newest_records(Filter())
    assert sorted((r.case.batch, r.case.index) for r in found) == [(1, 0), (1, 1), (8, 0), (8, 1)]
    assert {r.started_at for r in found} == {BEGIN + timedelta(days=1, hours=1)}
    assert len(store.newest_records(Filter(batch=(8,)))) == 2
    assert len(store.newest_records(Filter(), newest=3)) == 3
    earlier = store.newest_records(Filter(until=BEGIN + timedelta(days=1)))
    assert {r.started_at for r in earlier} == {BEGIN + timedelta(hours=1)}


def test_also_of_each_run_where_that_is_asked_for(tmp_path: Path) -> None:
    store = made(tmp_path, Device(platform="cuda", index=0, name="Chip"))
    found = store.newest_records(Filter(), per_run=True)
    assert len(found) == 8
    assert {r.started_at.hour for r in found} == {1}
    assert {hosts_of_runs(store)[r.run_id].host_id for r in found} == {"a", "b"}


def test_a_device_that_is_not_known_is_only_that_of_its_own_run(tmp_path: Path) -> None:
    assert len(made(tmp_path, None).newest_records(Filter())) == 8


def test_what_is_made_up_pushes_nothing_measured_out_of_sight(tmp_path: Path) -> None:
    device = Device(platform="cuda", index=0, name="Chip")
    store = made(tmp_path, device)
    newest = store.newest_records(Filter())[-1]
    changes = {"record_id": "z", "provenance": Provenance.SIMULATED, "started_at": BEGIN + timedelta(days=9)}
    store.add([newest.model_copy(update=changes)])
    found = {record.record_id for record in store.newest_records(Filter())}
    assert {newest.record_id, "z"} <= found


def test_a_filter_is_narrowed_by_another() -> None:
    wide = Filter(model=("Alpha", "beta"), batch=(1, 8), since=BEGIN)
    later = BEGIN + timedelta(days=1)
    both = wide.narrowed(Filter(model=("alpha",), platform=("cpu",), since=later, until=later))
    assert both == Filter(model=("Alpha",), batch=(1, 8), platform=("cpu",), since=later, until=later)


def test_filters_that_have_nothing_in_common_choose_nothing(tmp_path: Path) -> None:
    store = made(tmp_path, Device(platform="cuda", index=0, name="Chip"))
    assert store.records(Filter(batch=(1,)).narrowed(Filter(batch=(8,)))) == []
