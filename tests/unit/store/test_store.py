"""The store keeps what it was given: durable at once, folded once, whole again when read."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import (
    Case,
    Check,
    Device,
    Host,
    MetricValue,
    ModelInfo,
    OutputCheck,
    Passport,
    Placement,
    ProfileRow,
    Record,
    Run,
    Samples,
    Status,
    Stop,
    Verdict,
)
from modeldyno.store import database, fold, spool
from modeldyno.store.database import connect
from modeldyno.store.query import Filter
from modeldyno.store.spool import SpoolWriter, decode, encode, read_spool
from modeldyno.store.store import Store

PARTS = {"inter_token_ms": [0.25, 0.5], "loss": []}
HOST = Host(host_id="h", hostname="box", system="Linux", cpu="c", logical_cores=2, memory_mb=1024.0, python="3.11")


def make_run(*cases: Case) -> Run:
    return Run(host=HOST, command="dyno run", version="0", plan=cases)


def make_case(**changes: object) -> Case:
    return Case.model_validate({"model": "m", "platform": "cpu", "runtime": "torch", **changes})


def make_record(run: Run, **changes: object) -> Record:
    full = {
        "run_id": run.run_id,
        "case": make_case(batch=4, shape={"seq": 8}, options={"threads": 2}),
        "status": Status.OK,
        "duration_s": 1.5,
        "device": Device(platform="cpu", index=0, name="Chip", memory_mb=1.0, details={"logical_cores": 2}),
        "model": ModelInfo(
            name="m",
            architecture="vision",
            family="vision",
            model_type="vit",
            parameters=7,
            size="tiny",
            weights="random",
            source="catalogue",
            fingerprint="f",
            gflop=0.5,
        ),
        "placement": Placement(device="cpu", compute_precision="float32", nodes={"cpu": 3}, threads=2),
        "check": OutputCheck(reference="r", rel_l2=0.1, tolerance=0.2, passed=True, compared=3),
        "passport": Passport.of((Check(name="a", value=1.0, verdict=Verdict.AMBIGUOUS, advice="wait"),)),
        "metrics": {
            "latency_ms": MetricValue(value=2.0, low=1.5, high=2.5, n=3),
            "latency_p99_ms": MetricValue(value=None, note="needs 662 samples, has 3"),
        },
        "samples": (Samples(host_ms=[1.5, 2.0, 2.5], wait_ms=[0.0] * 3, parts=PARTS, stop=Stop.INTERVAL, steady=True),),
        "profile": (ProfileRow(name="mm", calls=3, time_ms=1.0, share=0.5),),
        "software": {"torch": "2"},
        **changes,
    }
    return Record.model_validate(full)


def keep(store: Store, run: Run, *records: Record) -> None:
    writer = store.writer(run)
    for item in (run, *records):
        assert writer.append(item) is None
    writer.close()


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "s.duckdb")


def test_a_record_comes_back_whole(store: Store) -> None:
    run = make_run(make_case())
    record, skipped = (
        make_record(run),
        make_record(run, status="skipped", reason="no", samples=(), metrics={}, device=None),
    )
    keep(store, run, record, skipped)
    store.fold()
    assert store.records(Filter()) == sorted([record, skipped], key=lambda r: r.record_id)
    assert store.runs() == [run]


def test_folding_twice_doubles_nothing_and_empties_the_spool(store: Store) -> None:
    run = make_run()
    record = make_record(run)
    keep(store, run, record)
    assert store.fold().new["record"] == 1
    assert list(store.spool.iterdir()) == []
    keep(store, run, record)
    assert store.fold().new["record"] == 0
    assert len(store.records(Filter())) == 1


def test_a_fold_during_a_run_sees_its_records_and_leaves_the_file(store: Store) -> None:
    run = make_run()
    writer = store.writer(run)
    for item in (run, make_record(run)):
        writer.append(item)
    assert store.fold().new["record"] == 1
    writer.append(make_record(run))
    writer.close()
    assert store.fold().new["record"] == 1
    assert len(store.records(Filter())) == 2
    assert list(store.spool.iterdir()) == []


def test_a_torn_line_is_told_and_kept_and_the_rest_is_folded(store: Store) -> None:
    run = make_run()
    keep(store, run, make_record(run))
    path = next(store.spool.iterdir())
    path.write_bytes(path.read_bytes() + encode(make_record(run))[:200])
    report = store.fold()
    assert report.new["record"] == 1
    assert "line 3: cut off in the middle" in report.torn[0]
    assert len(list(store.spool.glob("*.torn"))) == 1
    assert store.fold() == type(report)()


def test_acknowledged_records_survive_kill_9(store: Store) -> None:
    """A writer that is killed while appending loses nothing it was told is durable."""
    script = textwrap.dedent("""
        import sys
        from pathlib import Path
        from modeldyno.core.types import Run
        from modeldyno.store.store import Store
        from tests_store import make_record, make_run
        run = make_run()
        writer = Store(Path(sys.argv[1])).writer(run)
        writer.append(run)
        while True:
            record = make_record(run)
            writer.append(record)
            print(record.record_id, flush=True)
    """)
    path = store.path.parent / "tests_store.py"
    path.write_text(Path(__file__).read_text())
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(store.path)], stdout=subprocess.PIPE, text=True, cwd=store.path.parent
    )
    assert process.stdout
    acknowledged = [process.stdout.readline().strip() for _ in range(20)]
    process.send_signal(signal.SIGKILL)
    acknowledged += process.stdout.read().split()
    process.wait()
    process.stdout.close()
    store.fold()
    stored = [record.record_id for record in store.records(Filter())]
    assert set(filter(lambda one: len(one) == 26, acknowledged)) <= set(stored)
    assert len(stored) == len(set(stored))


def test_a_full_disk_keeps_records_and_writes_them_when_there_is_room(tmp_path: Path, monkeypatch) -> None:
    """/dev/full answers like a full disk; the records wait and then go where they belong."""
    run = make_run()
    writer = SpoolWriter(tmp_path / "spool.ndjson")
    good = writer._file
    writer._file = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr("os.ftruncate", lambda *_: None)
    assert "No space left on device" in (writer.append(run) or "")
    assert "2 item(s)" in (writer.append(make_record(run)) or "")
    os.close(writer._file)
    writer._file = good
    assert writer.append(make_record(run)) is None
    assert writer.close() is None
    assert len(read_spool(tmp_path / "spool.ndjson").items) == 3


def test_what_never_fits_is_rescued_elsewhere(tmp_path: Path, monkeypatch) -> None:
    writer = SpoolWriter(tmp_path / "spool.ndjson")
    os.close(writer._file)
    writer._file = os.open("/dev/full", os.O_WRONLY)
    monkeypatch.setattr("os.ftruncate", lambda *_: None)
    run = make_run()
    writer.append(run)
    rescued = writer.close()
    assert rescued is not None
    assert read_spool(rescued).items == (run,)
    rescued.unlink()


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.binary()
    | st.text().map(str.encode)
    | st.recursive(st.none() | st.integers(), st.lists).map(
        lambda value: json.dumps({"kind": "record", "data": value}).encode()
    )
)
def test_any_line_is_an_item_or_a_value_error(line: bytes) -> None:
    with pytest.raises(ValueError):
        decode(line)


def test_records_of_an_unknown_run_are_refused_with_a_sentence(store: Store) -> None:
    with pytest.raises(InputError, match="belongs to run"):
        store.add([make_record(make_run())])


def test_a_fold_between_open_and_lock_takes_no_run_away(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The new spool file is still empty and unlocked: another command's fold may remove it."""
    import fcntl

    locked = fcntl.flock
    folds = []

    def fold_first(descriptor: int, kind: int) -> None:
        if not folds:
            folds.append(1)
            store.fold()
        locked(descriptor, kind)

    monkeypatch.setattr("modeldyno.store.spool.fcntl.flock", fold_first)
    run = make_run()
    keep(store, run, make_record(run))
    assert folds
    assert store.fold().new["record"] == 1


def test_a_record_the_database_refuses_is_kept_apart_and_stops_nothing(store: Store) -> None:
    run = make_run()
    refused = make_record(run, metrics={"latency_ms": MetricValue(value=1.0, n=2**40)})
    good = make_record(run)
    keep(store, run, refused, good)
    report = store.fold()
    assert report.new["record"] == 1
    assert refused.record_id in report.torn[0]
    assert [record.record_id for record in store.records(Filter())] == [good.record_id]
    assert store.fold() == type(report)()


def test_a_run_at_work_is_known(store: Store) -> None:
    run = make_run()
    writer = store.writer(run)
    assert store.is_running(run)
    writer.close()
    assert not store.is_running(run)


def test_filters(store: Store) -> None:
    run, other = make_run(), make_run()
    keep(store, run, make_record(run), make_record(run, status="failed", case=make_case(model="N", platform="mps")))
    keep(store, other, make_record(other))
    store.fold()
    assert len(store.records(Filter(run_id=(run.run_id,)))) == 2
    assert len(store.records(Filter(model=("n",)))) == 1
    assert len(store.records(Filter(platform=("cpu",)))) == 2
    assert len(store.records(Filter(status=(Status.FAILED,)))) == 1


def test_runs_are_found_by_latest_and_by_their_beginning(store: Store) -> None:
    with pytest.raises(InputError, match="There is no store"):
        store.find_run("latest")
    first = make_run()
    keep(store, first)
    store.fold()
    assert store.find_run("latest").run_id == first.run_id
    assert store.find_run(first.run_id[:20]).run_id == first.run_id
    with pytest.raises(InputError, match="No run begins with 'zzz'"):
        store.find_run("zzz")


def test_a_newer_schema_is_refused(store: Store) -> None:
    with connect(store.path, write=True) as connection:
        connection.execute("INSERT INTO schema_versions VALUES (999, now()::TIMESTAMP)")
    with pytest.raises(JobError, match="upgrade modeldyno"), connect(store.path, write=True):
        pass


def test_a_file_that_is_no_database_is_a_sentence(store: Store) -> None:
    store.path.write_text("hello, I am not a database at all, but long enough to be read as one " * 100)
    with pytest.raises(JobError, match="Cannot open the store"):
        store.runs()


def test_a_run_has_one_writer(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    run = make_run()
    writer = store.writer(run)
    monkeypatch.setattr(spool, "PATIENCE_S", 0.0)
    with pytest.raises(InputError, match="Another process is writing the run"):
        store.writer(run)
    writer.close()
    store.writer(run).close()


def test_who_waits_too_long_for_the_store_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database, "QUEUE_S", 0.0)
    with connect(store.path, write=True), pytest.raises(JobError, match="in use by another command"):
        store.runs()


def test_foreign_keys_hold(store: Store) -> None:
    keep(store, make_run())
    store.fold()
    with connect(store.path, write=True) as connection, pytest.raises(duckdb.ConstraintException):
        connection.execute("INSERT INTO assertions VALUES ('nobody', 'it works', true, NULL)")


@pytest.mark.parametrize("fault", [duckdb.IOException, OSError])
def test_a_fold_that_fails_for_no_fault_of_the_lines_leaves_them_waiting(
    store: Store, monkeypatch: pytest.MonkeyPatch, fault: type[Exception]
) -> None:
    run = make_run()
    keep(store, run, make_record(run))

    def full(*_: object) -> None:
        raise fault("No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(fold, "_load", full)
        with pytest.raises(JobError, match=r"No space left on device.*they stay there"):
            store.fold()
    assert not list(store.spool.glob("*.torn"))
    assert store.fold().new["record"] == 1
