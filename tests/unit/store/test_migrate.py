"""A store of the first schema opens with everything that reads it, and loses nothing on the way up."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from modeldyno.core.errors import InputError, JobError
from modeldyno.store.ask import ask
from modeldyno.store.backup import backup, restore
from modeldyno.store.check import check
from modeldyno.store.export import export
from modeldyno.store.maintenance import migrate, stats, vacuum
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

FIXTURE = Path(__file__).parents[2] / "fixtures" / "stores" / "v1.duckdb.gz"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """A store of schema 1, as an earlier modeldyno left it."""
    path = tmp_path / "v1.duckdb"
    with gzip.open(FIXTURE) as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
    return Store(path)


def is_whole(store: Store) -> None:
    records = store.records(Filter())
    assert sorted((record.case.platform, record.status.value) for record in records) == [
        ("cpu", "ok"),
        ("cuda", "ok"),
        ("cuda", "ok"),
        ("cuda", "ok"),
        ("qnn", "skipped"),
    ]
    assert len(store.runs()) == 2
    for record in records:
        if record.status.value == "ok":
            assert record.device and record.model and record.passport and record.placement
            assert record.value("latency_ms")
            assert record.samples
        else:
            assert record.reason
    assert check(store) == []


def _ask(store: Store) -> None:
    with ask(store.path, "SELECT * FROM results") as answer:
        assert len(list(answer.rows)) == 5


READERS: dict[str, Callable[[Store], object]] = {
    "records": lambda store: store.records(Filter()),
    "runs": lambda store: store.runs(),
    "tests": lambda store: store.tests(),
    "imports": lambda store: store.imports(),
    "find_run": lambda store: store.find_run("latest"),
    "sql": _ask,
    "export": lambda store: export(store.path, store.path.parent / "out", "parquet", Filter()),
    "check": check,
    "stats": stats,
    "backup": lambda store: backup(store.path, store.path.parent / "backups"),
    "vacuum": vacuum,
}


@pytest.mark.parametrize("reader", READERS)
def test_every_reader_opens_it_and_keeps_the_old_file(store: Store, reader: str) -> None:
    original = store.path.read_bytes()
    READERS[reader](store)
    kept = store.path.with_name("v1.duckdb.schema1")
    assert kept.read_bytes() == original
    is_whole(store)


def test_migrate_says_from_where_to_where_and_what_it_kept(store: Store) -> None:
    done = migrate(store)
    assert (done.before, done.after) == (1, 2)
    assert done.backup == store.path.with_name("v1.duckdb.schema1")
    again = migrate(store)
    assert (again.before, again.after, again.backup) == (2, 2, None)
    is_whole(store)


def test_a_file_that_was_kept_before_is_not_overwritten(store: Store) -> None:
    before = store.path.with_name("v1.duckdb.schema1")
    before.write_text("of another time")
    done = migrate(store)
    assert done.backup == store.path.with_name("v1.duckdb.schema1-2")
    assert done.backup.exists()
    assert before.read_text() == "of another time"


def test_the_kept_file_can_be_restored_and_migrates_again(store: Store) -> None:
    kept = migrate(store).backup
    assert kept
    store.path.unlink()
    restore(store.path, kept)
    assert migrate(store).before == 1
    is_whole(store)


def test_migrate_of_nothing_and_of_something_else_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no store"):
        migrate(Store(tmp_path / "none.duckdb"))
    with duckdb.connect(tmp_path / "theirs.duckdb") as connection:
        connection.execute("CREATE TABLE t (i INTEGER)")
    with pytest.raises(JobError, match="not a store of modeldyno"):
        migrate(Store(tmp_path / "theirs.duckdb"))
