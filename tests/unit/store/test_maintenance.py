"""The store looked after: nothing that is done to it loses anything, whenever it is interrupted."""

from __future__ import annotations

import gzip
import os
import random
import shutil
import subprocess
import sys
import textwrap
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from modeldyno.core.elsewhere import Assertion, TestResult
from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import Case, Host, MetricValue, Provenance, Record, Run, Samples, Status
from modeldyno.importers._batch import import_paths
from modeldyno.store import rewrite as rewriting
from modeldyno.store.backup import backup, restore
from modeldyno.store.check import STALE_S, Finding, check
from modeldyno.store.database import connect
from modeldyno.store.maintenance import init, migrate, stats, vacuum
from modeldyno.store.purge import purge, would_purge
from modeldyno.store.query import Filter
from modeldyno.store.sample import EVIDENCE, sample_items
from modeldyno.store.schema import describe
from modeldyno.store.store import Store

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)
CUT = NOON - timedelta(days=90)


def make_run(started_at: datetime = NOON, **changes: object) -> Run:
    return Run.model_validate(
        {"host": Host(host_id="h"), "command": "c", "version": "0", "started_at": started_at} | changes
    )


def make_record(run: Run, started_at: datetime = NOON, **changes: object) -> Record:
    full: dict[str, object] = {
        "run_id": run.run_id,
        "case": Case(model="m", platform="cpu", runtime="r", batch=2),
        "status": Status.OK,
        "started_at": started_at,
        "metrics": {
            "latency_ms": MetricValue(value=4.0, low=3.0, high=5.0),
            "throughput_per_s": MetricValue(value=500.0),
        },
        "samples": (Samples(host_ms=[3.0, 4.0, 5.0], stop="interval", steady=True),),
        "log": "words",
    }
    return Record.model_validate(full | changes)


def make_test(run: Run, started_at: datetime) -> TestResult:
    made = (Assertion(name="a", passed=True),)
    return TestResult(run_id=run.run_id, name="t", status=Status.OK, started_at=started_at, assertions=made, log="l")


def contents(store: Store) -> tuple[object, ...]:
    return store.runs(), store.records(Filter()), store.tests(), store.imports()


def wrong(findings: list[Finding]) -> list[str]:
    return [finding.check for finding in findings if finding.wrong]


@contextmanager
def process(script: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process of its own that works until the block ends."""
    command = [sys.executable, "-c", textwrap.dedent(script), *map(str, arguments)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as worker:
        try:
            yield worker
        finally:
            worker.kill()


WRITER = """
    import sys, time
    from pathlib import Path
    from modeldyno.core.types import Case, Host, Record, Run, Status
    from modeldyno.store.store import Store
    store = Store(Path(sys.argv[1]))
    while True:
        run = Run(host=Host(host_id="w"), command="w", version="0")
        case = Case(model="m", platform="cpu", runtime="r")
        store.add([run, *(Record(run_id=run.run_id, case=case, status=Status.OK) for _ in range(5))])
        print(run.run_id, flush=True)
        time.sleep(0.05)
"""
"""Adds a run with five records again and again, says so after each, and lets others come to the lock."""


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "s.duckdb")


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a store with the sample data, and a run with samples, log and test."""
    folder, run = tmp_path_factory.mktemp("made"), make_run()
    Store(folder / "s.duckdb").add([*sample_items(), run, make_record(run), make_test(run, NOON)])
    return folder


@pytest.fixture
def filled(store: Store, made: Path) -> Store:
    """A copy of it."""
    shutil.copytree(made, store.path.parent, dirs_exist_ok=True)
    return store


# init


def test_init_makes_an_empty_store_once_and_again(store: Store) -> None:
    assert init(store, sample_data=False) == 0
    assert init(store, sample_data=False) == 0
    assert contents(store) == ([], [], [], [])


def test_sample_data_is_marked_as_made_up_and_always_the_same(store: Store, tmp_path: Path) -> None:
    assert init(store, sample_data=True) == 48
    records = store.records(Filter())
    assert {(record.provenance, record.evidence) for record in records} == {(Provenance.SIMULATED, (EVIDENCE,))}
    assert check(store) == []
    other = Store(tmp_path / "deep" / "er" / "other.duckdb")
    init(other, sample_data=True)
    assert contents(other) == contents(store)


def test_sample_data_does_not_mix_with_results(filled: Store) -> None:
    before = contents(filled)
    with pytest.raises(InputError, match="has 49 records; sample data goes into a new --store"):
        init(filled, sample_data=True)
    assert contents(filled) == before


# check


def test_a_sound_store_has_no_findings(filled: Store) -> None:
    assert check(filled) == []


@pytest.mark.parametrize(
    ("name", "damage"),
    [
        ("negative", {"latency_ms": MetricValue(value=-1.0)}),
        ("negative", {"of_my_own": MetricValue(value=-1.0)}),
        ("intervals", {"latency_ms": MetricValue(value=1.0, low=2.0, high=3.0)}),
        ("intervals", {"power_w": MetricValue(value=None, low=3.0, high=2.0)}),
        ("rates", {"latency_ms": MetricValue(value=1.0), "throughput_per_s": MetricValue(value=1000.0)}),
        ("rates", {"latency_mean_ms": MetricValue(value=1.0), "throughput_per_s": MetricValue(value=9000.0)}),
    ],
)
def test_numbers_that_contradict_themselves_are_found(filled: Store, name: str, damage: dict[str, MetricValue]) -> None:
    run = filled.runs()[0]
    bad = make_record(run, metrics=damage)
    filled.add([bad])
    (finding,) = check(filled)
    assert (finding.check, finding.wrong) == (name, True)
    assert bad.record_id in finding.text


def test_numbers_that_may_be_so_are_not_found(filled: Store) -> None:
    run = filled.runs()[0]
    contradictory = {"latency_ms": MetricValue(value=1.0), "throughput_per_s": MetricValue(value=9.0)}
    filled.add(
        [
            make_record(run, metrics={"launch_gap_ms": MetricValue(value=-0.1)}),
            make_record(run, metrics=contradictory, provenance="simulated", evidence=("it says so itself",)),
            make_record(run, metrics={"latency_p99_ms": MetricValue(value=None, note="needs 662 samples")}),
        ]
    )
    assert check(filled) == []


@pytest.mark.parametrize(
    ("name", "sql"),
    [
        ("artifacts", "INSERT INTO artifacts VALUES ('nobody', 'log', 'words')"),
        ("records", "INSERT INTO records SELECT * FROM records"),
    ],
)
def test_rows_that_should_not_be_are_found(filled: Store, name: str, sql: str) -> None:
    with connect(filled.path, write=True) as connection:
        connection.execute(sql)
    assert wrong(check(filled)) == [name]


def test_a_metric_without_a_column_is_found(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldyno.store.check.METRICS", {"latency_ms": None, "brand_new": None})
    assert [finding.text for finding in check(filled)] == ["records has no column for brand_new"]


def test_a_row_that_stands_there_twice_is_worth_knowing(filled: Store) -> None:
    run = filled.runs()[0]
    filled.add([make_record(run)])
    (finding,) = check(filled)
    assert (finding.check, finding.wrong) == ("duplicates", False)


def test_a_damaged_file_is_found(filled: Store) -> None:
    content = bytearray(filled.path.read_bytes())
    dice = random.Random(1)
    for place in range(3 * 4096, len(content), 40_000):
        content[place : place + 64] = dice.randbytes(64)
    filled.path.write_bytes(content)
    (finding,) = check(filled)
    assert (finding.check, finding.wrong) == ("database", True)
    assert "restore a backup" in finding.remedy


def test_what_waits_is_told_and_what_is_torn_is_wrong(filled: Store) -> None:
    run = make_run()
    writer = filled.writer(run)
    writer.append(run)
    writer.close()
    (filled.spool / "x.torn").write_text("half a li")
    assert [(f.check, f.wrong) for f in check(filled)] == [("spool", False), ("torn", True)]
    assert len(list(filled.spool.glob("*.ndjson"))) == 1


def test_stale_partial_files_are_found_and_removed_and_fresh_ones_are_left(filled: Store) -> None:
    beside = filled.path.with_name(filled.path.name + ".rewritten.partial")
    stale, fresh = filled.spool / "a.partial", filled.spool / "b.partial"
    of_an_export = filled.path.with_name(".out-x1.partial")
    of_an_export.mkdir()
    (of_an_export / "part.parquet").write_text("half")
    for file in (beside, stale, fresh):
        file.write_text("half")
    for file in (beside, stale, of_an_export):
        os.utime(file, (time.time() - 2 * STALE_S,) * 2)
    assert wrong(check(filled)) == ["partial"] * 3
    assert wrong(check(filled, repair=True)) == []
    assert [file.exists() for file in (beside, stale, of_an_export, fresh)] == [False, False, False, True]
    assert [(f.check, f.wrong) for f in check(filled)] == [("partial", False)]


# vacuum


def test_vacuum_makes_it_smaller_and_changes_nothing(filled: Store) -> None:
    with connect(filled.path, write=True) as connection:
        connection.execute("CREATE TABLE rubbish AS SELECT random() AS r FROM range(500000)")
        connection.execute("CREATE SCHEMA mine")
        connection.execute("CREATE TABLE mine.notes AS SELECT 'keep me' AS note")
        connection.execute("CHECKPOINT")
        connection.execute("DROP TABLE rubbish")
    before = contents(filled)
    large, small = vacuum(filled)
    assert small < large
    assert filled.path.stat().st_size == small
    assert contents(filled) == before
    assert check(filled) == []
    with connect(filled.path, write=True) as connection:
        assert connection.execute("SELECT note FROM mine.notes").fetchall() == [("keep me",)]
        assert connection.execute("SELECT count(*) FROM results").fetchone() == (49,)
        with pytest.raises(duckdb.ConstraintException):
            connection.execute("INSERT INTO assertions VALUES ('nobody', 'it works', true, NULL)")
    run = make_run()
    filled.add([run, make_record(run)])
    assert len(filled.records(Filter())) == 50


def test_a_file_that_did_not_come_over_whole_takes_no_place(filled: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    before = contents(filled)
    answers = iter(range(1000))
    monkeypatch.setattr(rewriting, "_digest", lambda *_: next(answers))
    with pytest.raises(JobError, match="did not come over whole"):
        vacuum(filled)
    assert contents(filled) == before
    assert list(filled.path.parent.glob("*.partial*")) == []


def test_a_vacuum_that_is_killed_at_any_moment_leaves_a_whole_store(filled: Store) -> None:
    script = """
        import sys
        from pathlib import Path
        from modeldyno.store.maintenance import vacuum
        from modeldyno.store.store import Store
        print("ready", flush=True)
        while True:
            vacuum(Store(Path(sys.argv[1])))
            print("done", flush=True)
    """
    before = contents(filled)
    dice = random.Random(0)
    for _ in range(4):
        with process(script, filled.path) as worker:
            assert worker.stdout
            assert worker.stdout.readline() == "ready\n"
            assert worker.stdout.readline() == "done\n"
            time.sleep(dice.uniform(0.0, 0.3))
        assert contents(filled) == before
    vacuum(filled)
    assert wrong(check(filled)) == []


def test_records_added_while_others_vacuum_are_all_there(filled: Store) -> None:
    with process(WRITER, filled.path) as worker:
        assert worker.stdout
        said = [worker.stdout.readline().strip()]
        for _ in range(3):
            vacuum(filled)
            said.append(worker.stdout.readline().strip())
    filled.fold()
    runs = {run.run_id for run in filled.runs()}
    assert set(said) <= runs
    assert wrong(check(filled)) == []


# purge


@pytest.fixture
def aged(store: Store) -> Store:
    """An old run, one that reaches over the cut, a young one, an old one with a test, an old one with nothing."""
    old, across, young, tested, empty = (
        make_run(moment) for moment in (CUT - timedelta(1),) * 2 + (NOON,) + (CUT - timedelta(2),) * 2
    )
    rare = Case(model="rare", platform="mps", runtime="r")
    store.add(
        [
            *(old, across, young, tested, empty),
            *(make_record(old, CUT - timedelta(hours=hours), case=rare) for hours in (1, 2)),
            make_record(across, CUT - timedelta(seconds=1)),
            make_record(across, CUT),
            make_record(young, NOON),
            make_test(tested, CUT - timedelta(days=1)),
            make_test(young, NOON),
        ]
    )
    return store


def test_purge_takes_what_is_old_and_nothing_else(aged: Store, tmp_path: Path) -> None:
    before = contents(aged)
    going = {"record": 3, "test": 1, "run": 3}
    assert would_purge(aged.path, CUT) == going
    assert contents(aged) == before
    done = purge(aged.path, CUT, tmp_path / "archive" / "now")
    assert done.counts == going
    assert [record.started_at >= CUT for record in aged.records(Filter())] == [True, True]
    assert [test.started_at >= CUT for test in aged.tests()] == [True]
    assert len(aged.runs()) == 2
    assert check(aged) == []
    with connect(aged.path, write=False) as connection:
        for table, rows in {"samples": 2, "artifacts": 3, "assertions": 1, "cases": 1, "hosts": 1}.items():
            assert connection.execute(f"SELECT count(*) FROM {table}").fetchone() == (rows,), table


def test_what_was_purged_can_be_brought_back(aged: Store, tmp_path: Path) -> None:
    before = contents(aged)[:3]
    done = purge(aged.path, CUT, tmp_path / "archive")
    assert done.archive
    import_paths(aged, [done.archive])
    assert contents(aged)[:3] == before


def test_nothing_old_means_nothing_to_do(aged: Store, tmp_path: Path) -> None:
    before = aged.path.read_bytes()
    done = purge(aged.path, CUT - timedelta(days=1000), tmp_path / "archive")
    assert (done.counts.total(), done.archive) == (0, None)
    assert not (tmp_path / "archive").exists()
    assert aged.path.read_bytes() == before


def test_without_an_archive_nothing_goes(aged: Store, tmp_path: Path) -> None:
    before = contents(aged)
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(JobError, match="Cannot write"):
        purge(aged.path, CUT, tmp_path / "file" / "archive")
    assert contents(aged) == before


def test_an_archive_that_lacks_something_lets_nothing_go(
    aged: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modeldyno.store import purge as module
    from modeldyno.store.export import Exported

    before = contents(aged)
    monkeypatch.setattr(module, "export_from", lambda *_: Exported(tmp_path, Counter(record=2)))
    with pytest.raises(JobError, match="nothing was removed"):
        purge(aged.path, CUT, tmp_path / "archive")
    assert contents(aged) == before


# backup and restore


def test_a_backup_comes_back_whole(filled: Store, tmp_path: Path) -> None:
    done = backup(filled.path, tmp_path / "backups")
    assert done.counts["records"] == 49
    assert [file.name for file in (tmp_path / "backups").iterdir()] == [done.file.name]
    other = Store(tmp_path / "new" / "other.duckdb")
    assert restore(other.path, done.file).kept is None
    assert contents(other) == contents(filled)
    assert check(other) == []


def test_backups_while_others_write_are_each_whole(filled: Store, tmp_path: Path) -> None:
    with process(WRITER, filled.path) as one, process(WRITER, filled.path) as two:
        for worker in (one, two):
            assert worker.stdout
            assert worker.stdout.readline()
        said: set[str] = set()
        made = []
        for _ in range(3):
            assert one.stdout
            said.add(one.stdout.readline().strip())
            made.append((backup(filled.path, tmp_path / "backups"), set(said)))
    for number, (done, known) in enumerate(made):
        other = Store(tmp_path / f"{number}.duckdb")
        restore(other.path, done.file)
        assert known <= {run.run_id for run in other.runs()}
        written = [record for record in other.records(Filter()) if record.case.runtime == "r" and not record.metrics]
        assert len(written) % 5 == 0
        assert check(other) == []


def test_restore_keeps_what_was_there(filled: Store, tmp_path: Path) -> None:
    first = contents(filled)
    saved = backup(filled.path, tmp_path).file
    run = make_run()
    filled.add([run, make_record(run)])
    second = contents(filled)
    kept = restore(filled.path, saved).kept
    assert contents(filled) == first
    assert kept
    assert contents(Store(kept)) == second
    assert restore(filled.path, kept).kept != kept
    assert contents(filled) == second
    assert contents(Store(kept)) == second


def test_what_a_killed_program_left_beside_the_file_is_backed_up_and_kept(filled: Store, tmp_path: Path) -> None:
    """DuckDB writes to a log beside the file first; a program that dies leaves it there."""
    script = """
        import os, sys, duckdb
        connection = duckdb.connect(sys.argv[1])
        connection.execute("INSERT INTO platforms VALUES ('" + sys.argv[2] + "')")
        os._exit(0)
    """

    def leave(platform: str) -> None:
        with process(script, filled.path, platform) as worker:
            worker.wait()
        assert filled.path.with_name(filled.path.name + ".wal").exists()

    def platforms(store: Store) -> set[str]:
        with connect(store.path, write=False) as connection:
            return {row[0] for row in connection.execute("SELECT platform FROM platforms").fetchall()}

    leave("first")
    saved = backup(filled.path, tmp_path / "b").file
    leave("second")
    kept = restore(filled.path, saved).kept
    assert kept
    assert platforms(filled) & {"first", "second"} == {"first"}
    assert platforms(Store(kept)) & {"first", "second"} == {"first", "second"}


def test_restore_mends_a_store_that_does_not_open(filled: Store, tmp_path: Path) -> None:
    before = contents(filled)
    saved = backup(filled.path, tmp_path).file
    filled.path.write_bytes(b"ruined" * 10_000)
    filled.path.with_name(filled.path.name + ".wal").write_bytes(b"a log of the ruined one")
    restore(filled.path, saved)
    assert contents(filled) == before


def test_what_waits_in_the_spool_is_never_lost_by_a_restore(filled: Store, tmp_path: Path) -> None:
    saved = backup(filled.path, tmp_path).file
    run = make_run()
    record = make_record(run)
    writer = filled.writer(run)
    for item in (run, record):
        writer.append(item)
    writer.close()
    before = filled.path.read_bytes()
    with pytest.raises(InputError, match=r"1 file\(s\) wait in .*--force"):
        restore(filled.path, saved)
    assert filled.path.read_bytes() == before
    assert restore(filled.path, saved, force=True).folded.new["record"] == 1
    assert record in filled.records(Filter())


def _cut(content: bytes) -> bytes:
    return content[: len(content) // 2]


def _bent(content: bytes) -> bytes:
    middle = len(content) // 2
    return content[:middle] + bytes(255 - byte for byte in content[middle : middle + 8]) + content[middle + 8 :]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (_cut, "is damaged"),
        (_bent, "is damaged"),
        (lambda _: gzip.compress(b"no database" * 1000), "is no sound store"),
        (lambda _: b"no database" * 1000, "is no sound store"),
        (lambda _: b"", "not a store of modeldyno|no sound store"),
    ],
)
def test_a_damaged_backup_is_refused_and_the_store_stays(
    filled: Store, tmp_path: Path, damage: object, sentence: str
) -> None:
    before = contents(filled)
    saved = backup(filled.path, tmp_path / "b").file
    bad = tmp_path / "bad.duckdb.gz"
    bad.write_bytes(damage(saved.read_bytes()))  # type: ignore[operator]
    with pytest.raises(JobError, match=sentence):
        restore(filled.path, bad)
    assert contents(filled) == before
    assert list(tmp_path.glob("*.partial")) == []


def test_a_database_of_somebody_else_is_no_backup(filled: Store, tmp_path: Path) -> None:
    with duckdb.connect(tmp_path / "theirs.duckdb") as connection:
        connection.execute("CREATE TABLE t (i INTEGER)")
    with pytest.raises(JobError, match="not a store of modeldyno"):
        restore(filled.path, tmp_path / "theirs.duckdb")
    with pytest.raises(InputError, match="There is no backup"):
        restore(filled.path, tmp_path / "nothing.gz")


@pytest.mark.parametrize(
    ("keep", "older_than", "left"),
    [
        (None, None, [0, 1, 5, 40, 50]),
        (2, None, [0, 1]),
        (1, None, [0]),
        (None, timedelta(days=30), [0, 1, 5]),
        (4, timedelta(days=30), [0, 1, 5, 40]),
        (1, timedelta(days=3), [0, 1]),
    ],
)
def test_old_backups_go_by_number_and_age(
    store: Store, tmp_path: Path, keep: int | None, older_than: timedelta | None, left: list[int]
) -> None:
    init(store, sample_data=False)
    folder = tmp_path / "b"
    folder.mkdir()

    family = backup(store.path, tmp_path / "first").file.name.rsplit("-", 1)[0]

    def name(days: int) -> str:
        return (NOON - timedelta(days=days)).strftime(f"{family}-%Y%m%dT%H%M%SZ.duckdb.gz")

    for days in (1, 5, 40, 50):
        (folder / name(days)).write_text("a backup")
    others = [f"other-{family}-20200101T000000Z.duckdb.gz", f"{family}-notes.duckdb.gz"]
    others += [f"{family}-20209999T000000Z.duckdb.gz", "s-20200101T000000Z.duckdb.gz"]
    for other in others:
        (folder / other).write_text("not ours to remove")
    done = backup(store.path, folder, keep, older_than, now=NOON)
    assert {file.name for file in folder.iterdir()} == {*map(name, left), *others}
    assert len(done.removed) == 5 - len(left)


def test_stores_of_one_name_keep_each_their_backups(tmp_path: Path) -> None:
    stores = [Store(tmp_path / folder / "dyno.duckdb") for folder in "ab"]
    for store in stores:
        init(store, sample_data=False)
    files = [backup(store.path, tmp_path / "backups", keep=1).file for store in stores]
    assert all(file.exists() for file in files)


def test_no_old_backup_goes_for_a_new_one_that_is_not_whole(
    filled: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from modeldyno.store import backup as module

    first = backup(filled.path, tmp_path / "b").file
    monkeypatch.setattr(module, "_unpacked", lambda *_: {"records": 0})
    with pytest.raises(JobError, match="not what the store holds"):
        backup(filled.path, tmp_path / "b", keep=1)
    assert list((tmp_path / "b").iterdir()) == [first]


def test_two_backups_within_a_second_are_two(store: Store, tmp_path: Path) -> None:
    init(store, sample_data=False)
    files = {backup(store.path, tmp_path / "b", now=NOON).file for _ in range(3)}
    assert len(files) == 3


def test_a_place_that_cannot_be_written_is_a_sentence(filled: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no folder")
    with pytest.raises(JobError, match="Cannot write in"):
        backup(filled.path, tmp_path / "file")


# stats and schema


def test_stats_count_everything(filled: Store) -> None:
    run = make_run()
    writer = filled.writer(run)
    writer.append(run)
    writer.close()
    document = stats(filled)
    assert document["tables"]["records"] == 49
    assert document["records"]["platform"] == {"cpu": 13, "cuda": 12, "openvino": 12, "qnn": 12}
    assert document["records"]["status"] == {"ok": 37, "skipped": 12}
    assert document["records"]["provenance"] == {"measured": 1, "simulated": 48}
    assert (document["first"], document["last"]) == ("2026-01-05T09:01:00Z", "2026-06-01T12:00:00Z")
    assert document["bytes"] == filled.path.stat().st_size
    assert document["spool"]["waiting"] == 1


def test_an_empty_store_has_stats_too(store: Store) -> None:
    init(store, sample_data=False)
    assert stats(store)["first"] is None
    assert migrate(store).before == migrate(store).after


def test_every_table_and_view_of_the_schema_has_a_meaning() -> None:
    version, relations = describe()
    assert version >= 2
    assert [relation.name for relation in relations if not relation.meaning] == []
    assert relations[0].name == "results"
    records = next(relation for relation in relations if relation.name == "records")
    found = {column.name: column for column in records.columns}
    assert found["run_id"].key == "runs.run_id"
    assert found["run_id"].key == "runs.run_id"
    assert found["series_id"].meaning == "the case on equal hardware"
    assert found["latency_ms"].type == "metric"
