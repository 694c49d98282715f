"""A store of an earlier schema opens with everything that reads it, and loses nothing on the way up."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Callable
from pathlib import Path

import duckdb
import pytest

from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import Provenance
from modeldyno.store.ask import ask
from modeldyno.store.backup import backup, restore
from modeldyno.store.check import check
from modeldyno.store.export import export
from modeldyno.store.maintenance import migrate, stats, vacuum
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

STORES = Path(__file__).parents[2] / "fixtures" / "stores"
NEWEST = 5
SAMPLE_RECORDS, SAMPLE_RUNS = {1: 0, 2: 48, 3: 48, 4: 48}, {1: 0, 2: 3, 3: 3, 4: 3}
"""By schema: what is in the store beside the measurements that all of them have."""


@pytest.fixture(params=range(1, NEWEST))
def version(request: pytest.FixtureRequest) -> int:
    return int(request.param)


@pytest.fixture
def store(tmp_path: Path, version: int) -> Store:
    """A store of an earlier schema, as the modeldyno of its time left it."""
    path = tmp_path / "old.duckdb"
    with gzip.open(STORES / f"v{version}.duckdb.gz") as source, path.open("wb") as target:
        shutil.copyfileobj(source, target)
    return Store(path)


def is_whole(store: Store, version: int) -> None:
    records = store.records(Filter(provenance=(Provenance.MEASURED,)))
    assert sorted((record.case.platform, record.status.value) for record in records) == [
        ("cpu", "ok"),
        ("cuda", "ok"),
        ("cuda", "ok"),
        ("cuda", "ok"),
        ("qnn", "skipped"),
    ]
    assert len(store.runs()) == 2 + SAMPLE_RUNS[version]
    assert len(store.records(Filter())) == 5 + SAMPLE_RECORDS[version]
    for record in records:
        if record.status.value == "ok":
            assert record.device and record.model and record.passport and record.placement
            assert record.value("latency_ms")
            assert record.samples
        else:
            assert record.reason
    assert check(store) == []


def _ask(store: Store) -> None:
    with ask(store.path, "SELECT * FROM results WHERE provenance = 'measured'") as answer:
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


@pytest.mark.parametrize("version", [1], indirect=True)
@pytest.mark.parametrize("reader", READERS)
def test_every_reader_opens_it_and_keeps_the_old_file(store: Store, version: int, reader: str) -> None:
    """From the first schema, whose way is the longest; the others go a part of it."""
    original = store.path.read_bytes()
    READERS[reader](store)
    kept = store.path.with_name(f"old.duckdb.schema{version}")
    assert kept.read_bytes() == original
    is_whole(store, version)


def test_migrate_says_from_where_to_where_and_what_it_kept(store: Store, version: int) -> None:
    original = store.path.read_bytes()
    done = migrate(store)
    assert (done.before, done.after) == (version, NEWEST)
    assert done.backup == store.path.with_name(f"old.duckdb.schema{version}")
    assert done.backup.read_bytes() == original
    again = migrate(store)
    assert (again.before, again.after, again.backup) == (NEWEST, NEWEST, None)
    is_whole(store, version)


def test_a_file_that_was_kept_before_is_not_overwritten(store: Store, version: int) -> None:
    before = store.path.with_name(f"old.duckdb.schema{version}")
    before.write_text("of another time")
    done = migrate(store)
    assert done.backup == store.path.with_name(f"old.duckdb.schema{version}-2")
    assert done.backup.exists()
    assert before.read_text() == "of another time"


def test_the_kept_file_can_be_restored_and_migrates_again(store: Store, version: int) -> None:
    kept = migrate(store).backup
    assert kept
    store.path.unlink()
    restore(store.path, kept)
    assert migrate(store).before == version
    is_whole(store, version)


def test_migrate_of_nothing_and_of_something_else_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="There is no store"):
        migrate(Store(tmp_path / "none.duckdb"))
    with duckdb.connect(tmp_path / "theirs.duckdb") as connection:
        connection.execute("CREATE TABLE t (i INTEGER)")
    with pytest.raises(JobError, match="not a store of modeldyno"):
        migrate(Store(tmp_path / "theirs.duckdb"))
