"""Our own Parquet is known by its columns; a row that is not ours is told of, and the others are taken."""

from __future__ import annotations

import json
from pathlib import Path

import duckdb
import pytest

from modeldyno.core.types import Case, Host, MetricValue, Record, Run, Status
from modeldyno.importers import IMPORTERS
from modeldyno.importers._batch import import_paths
from modeldyno.importers._document import load
from modeldyno.store.export import PARTS, export
from modeldyno.store.query import Filter
from modeldyno.store.store import Store


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Three records of one run in one file."""
    store = Store(tmp_path / "s.duckdb")
    run = Run(host=Host(host_id="h"), command="c", version="0")
    case = Case(model="m", platform="cpu", runtime="r")
    records = [
        Record(run_id=run.run_id, case=case, status=Status.OK, metrics={"latency_ms": MetricValue(value=value)})
        for value in (1.0, 2.0, 3.0)
    ]
    store.add([run, *records])
    out = export(store.path, tmp_path / "out", "parquet", Filter()).target
    return next(out.glob(PARTS))


def rewritten(file: Path, columns: str) -> Path:
    """The same rows with other columns."""
    other = file.with_name("other.parquet")
    with duckdb.connect() as connection:
        connection.execute(f"COPY (SELECT {columns} FROM '{file}') TO '{other}' (FORMAT parquet)")
    return other


def test_it_is_recognised_by_its_columns(file: Path, tmp_path: Path) -> None:
    nameless = tmp_path / "nameless"
    nameless.write_bytes(file.read_bytes())
    assert [member.name for member in IMPORTERS.all() if member.recognises(load(nameless))] == ["modeldyno-parquet"]


@pytest.mark.parametrize("columns", ["record", "run", "record.run_id AS id, 1 AS n"])
def test_other_parquet_is_not_ours(file: Path, columns: str) -> None:
    assert not IMPORTERS.get("modeldyno-parquet").recognises(load(rewritten(file, columns)))


def test_a_table_of_text_is_not_ours(tmp_path: Path) -> None:
    text = tmp_path / "t.csv"
    text.write_text("import,run\n1,2\n")
    assert not IMPORTERS.get("modeldyno-parquet").recognises(load(text))


def test_importing_twice_adds_nothing(file: Path, tmp_path: Path) -> None:
    store = Store(tmp_path / "new.duckdb")
    for known in (False, True):
        assert [report.known for report in import_paths(store, [file]).files] == [known]
        assert len(store.records(Filter())) == 3
        assert len(store.runs()) == 1


@pytest.mark.parametrize(
    "broken",
    [
        "struct_update(record, status := 'superb')",
        "struct_update(record, started_at := NULL::TIMESTAMP)",
        "struct_update(record, device := '{')",
        'struct_update(record, "case" := NULL)',
        "{'record_id': 'x'}",
        "5",
    ],
)
def test_a_broken_row_is_rejected_with_its_number_and_the_rest_is_taken(
    file: Path, tmp_path: Path, broken: str
) -> None:
    store = Store(tmp_path / "new.duckdb")
    with duckdb.connect() as connection:
        other = tmp_path / "other.parquet"
        connection.execute(f"COPY (SELECT import, run, {broken} AS record FROM '{file}') TO '{other}'")
    (report,) = import_paths(store, [other, file]).files[:1]
    assert [rejection.place for rejection in report.rejected] == ["row 1", "row 2", "row 3"]
    assert all(rejection.reason for rejection in report.rejected)
    assert len(store.records(Filter())) == 3


def test_a_run_that_is_no_json_is_rejected(file: Path, tmp_path: Path) -> None:
    (report,) = import_paths(Store(tmp_path / "new.duckdb"), [rewritten(file, "import, 'hello' AS run, record")]).files
    assert [rejection.place for rejection in report.rejected] == ["row 1", "row 2", "row 3"]


def test_the_run_comes_once_per_file(file: Path) -> None:
    document = load(file)
    assert document.table is not None
    assert len({json.loads(row["run"])["run_id"] for row in document.table.rows}) == 1
