"""What is exported comes back whole, and each file stands alone."""

from __future__ import annotations

import csv
import math
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pytest

from blank_store import blank_store
from modeldyno.core.elsewhere import Assertion, Import, Rejection, TestResult
from modeldyno.core.errors import InputError, JobError, UnknownName
from modeldyno.core.types import (
    Case,
    Device,
    Host,
    MetricValue,
    ModelInfo,
    Passport,
    Placement,
    ProfileRow,
    Record,
    Run,
    Samples,
    Status,
    Stop,
)
from modeldyno.importers._batch import import_paths
from modeldyno.store.export import FORMATS, export
from modeldyno.store.query import Filter
from modeldyno.store.spool import decode
from modeldyno.store.store import Store

NOON = datetime(2026, 11, 15, 12, 30, 1, 123456, tzinfo=UTC)
HOST = Host(host_id="h", hostname="box")


def case(model: str = "m", platform: str = "cpu") -> Case:
    return Case(model=model, platform=platform, runtime="torch", shape={"seq": 8}, options={"threads": 2})


def full(run: Run, number: int, **changes: object) -> Record:
    """A record in which every field holds something awkward."""
    return Record.model_validate(
        {
            "run_id": run.run_id,
            "case": case(),
            "status": Status.OK,
            "evidence": ("it's", 'quoted "so"'),
            "started_at": NOON + timedelta(days=number),
            "duration_s": 0.1 + number,
            "device": Device(platform="cpu", index=1, name="Chip", details={"cores": 2, "ok": True}),
            "model": ModelInfo(name="m", weights="random", source="s", fingerprint="f", gflop=1 / 3),
            "placement": Placement(device="cpu", compute_precision="float32", nodes={"cpu": 3}, fallback=("Gelu",)),
            "passport": Passport.of(()),
            "metrics": {
                "latency_ms": MetricValue(value=0.1 + 0.2, low=1e-300, high=1e300, n=3),
                "latency_p99_ms": MetricValue(value=None, note="needs 662 samples"),
                "of_my_own": MetricValue(value=7.0),
            },
            "samples": (
                Samples(
                    process=0,
                    host_ms=[1.5, 2.0],
                    cpu_ms=[1.0, 2.0],
                    parts={"loss": [3.0]},
                    stop=Stop.INTERVAL,
                    steady=True,
                ),
                Samples(process=1, host_ms=[], stop=Stop.TIME_CAP, steady=None),
            ),
            "profile": (ProfileRow(name="mm", calls=3, time_ms=1.0, share=0.5),),
            "software": {"torch": "2"},
            "log": "line\nline \u2713",
            **changes,
        }
    )


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """Two runs with records on two platforms, one with a test from an import, one with nothing."""
    made = blank_store(tmp_path / "s.duckdb")
    brought = Import(import_id="i", file="a b.json", format="f", size=3, rejected=(Rejection(place="1", reason="r"),))
    first = Run(host=HOST, command="one", version="0", started_at=NOON, plan=(case(),), settings={"samples": 3})
    second = Run(host=HOST, command="two", version="0", started_at=NOON, name="suite", commit="c0ffee")
    tested = Run(host=HOST, command="import", version="0", started_at=NOON, import_id="i", effort="imported")
    empty = Run(host=HOST, command="stopped at once", version="0", started_at=NOON)
    test = TestResult(
        run_id=tested.run_id,
        name="t",
        model="m",
        platform="qnn",
        status=Status.FAILED,
        reason="why",
        started_at=NOON,
        assertions=(Assertion(name="a", passed=False, message="m"), Assertion(name="b", passed=True)),
        log="words",
    )
    made.add(
        [
            brought,
            first,
            second,
            tested,
            empty,
            *(full(first, number) for number in range(3)),
            full(second, 1, case=case("n", "cuda")),
            full(second, 2, case=case("n", "cuda"), status="skipped", reason="no", samples=(), metrics={}, device=None),
            test,
        ]
    )
    return made


def contents(store: Store) -> tuple[object, ...]:
    return store.runs(), store.records(Filter()), store.tests()


@pytest.mark.parametrize("format_name", ["parquet", "json"])
def test_an_export_imported_into_an_empty_store_is_equal(store: Store, format_name: str, tmp_path: Path) -> None:
    exported = export(store.path, tmp_path / "out", format_name, Filter())
    assert exported.counts == {"import": 1, "run": 4, "record": 5, "test": 1}
    other = Store(tmp_path / "other.duckdb")
    reports = import_paths(other, [exported.target]).files
    assert [report.problem or report.rejected for report in reports if report.problem or report.rejected] == []
    assert contents(other) == contents(store)
    assert store.imports()[0] in other.imports()


def test_parquet_lies_by_date_and_platform_and_can_be_asked(store: Store, tmp_path: Path) -> None:
    out = export(store.path, tmp_path / "it's out", "parquet", Filter()).target
    files = sorted(str(file.relative_to(out)) for file in out.rglob("*") if file.is_file())
    assert files == [
        "date=2026-11-15/platform=cpu/part-0.parquet",
        "date=2026-11-16/platform=cpu/part-0.parquet",
        "date=2026-11-16/platform=cuda/part-0.parquet",
        "date=2026-11-17/platform=cpu/part-0.parquet",
        "date=2026-11-17/platform=cuda/part-0.parquet",
        "imports.parquet",
        "runs.parquet",
        "tests.parquet",
    ]
    with duckdb.connect() as connection:
        rows = connection.execute(
            """SELECT record."case".model, record.metrics.latency_ms.value, record.started_at, run ->> 'command'
               FROM read_parquet(?) WHERE date = '2026-11-16' ORDER BY platform""",
            [str(out / "*" / "*" / "*.parquet")],
        ).fetchall()
    moment = (NOON + timedelta(days=1)).replace(tzinfo=None)
    assert rows == [("m", 0.1 + 0.2, moment, "one"), ("n", 0.1 + 0.2, moment, "two")]


def test_one_file_of_many_stands_alone(store: Store, tmp_path: Path) -> None:
    out = export(store.path, tmp_path / "out", "parquet", Filter()).target
    for number, (file, records, tests) in enumerate(
        [("date=2026-11-16/platform=cuda/part-0.parquet", 1, 0), ("tests.parquet", 0, 1), ("runs.parquet", 0, 0)]
    ):
        alone = Store(tmp_path / f"{number}.duckdb")
        import_paths(alone, [out / file])
        assert (len(alone.runs()), len(alone.records(Filter())), len(alone.tests())) == (1, records, tests)


@pytest.mark.parametrize(
    ("chosen", "counts"),
    [
        (Filter(model=("N",)), {"run": 1, "record": 2}),
        (Filter(platform=("cpu",)), {"run": 1, "record": 3}),
        (Filter(platform=("qnn",)), {"import": 1, "run": 1, "test": 1}),
        (Filter(since=NOON + timedelta(days=1)), {"run": 2, "record": 4}),
        (Filter(until=NOON + timedelta(days=1)), {"import": 1, "run": 3, "record": 1, "test": 1}),
        (Filter(precision=("fp32",), model=("m",)), {"run": 1, "record": 3}),
        (Filter(model=("nobody",)), {}),
    ],
)
def test_filters_take_runs_and_imports_along(
    store: Store, chosen: Filter, counts: dict[str, int], tmp_path: Path
) -> None:
    for format_name in ("json", "parquet"):
        assert export(store.path, tmp_path / format_name, format_name, chosen).counts == counts


def test_lines_are_the_spools_own(store: Store, tmp_path: Path) -> None:
    out = export(store.path, tmp_path / "out.ndjson", "json", Filter()).target
    items = [decode(line) for line in out.read_bytes().splitlines(keepends=True)]
    assert [type(item).__name__ for item in items] == ["Import"] + ["Run"] * 4 + ["Record"] * 5 + ["TestResult"]


def test_csv_is_the_view_results(store: Store, tmp_path: Path) -> None:
    out = export(store.path, tmp_path / "out.csv", "csv", Filter(platform=("cpu",))).target
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["platform"] for row in rows] == ["cpu"] * 3
    assert [float(row["latency_ms"]) for row in rows] == [0.1 + 0.2] * 3


def test_a_number_that_is_none_stays_none(store: Store, tmp_path: Path) -> None:
    run = store.runs()[0]
    broken = full(run, 0, samples=(Samples(host_ms=[1.0, math.nan], stop=Stop.INTERVAL, steady=True),))
    store.add([broken])
    out = export(store.path, tmp_path / "out", "parquet", Filter()).target
    other = Store(tmp_path / "other.duckdb")
    import_paths(other, [out])
    series = other.records(Filter(record_id=(broken.record_id,)))[0].samples[0].host_ms
    assert series[0] == 1.0
    assert math.isnan(series[1])


@pytest.mark.parametrize("format_name", FORMATS)
def test_nothing_is_overwritten_and_nothing_half_done_stays(store: Store, format_name: str, tmp_path: Path) -> None:
    target = tmp_path / "there"
    target.write_text("mine")
    with pytest.raises(InputError, match="is already there"):
        export(store.path, target, format_name, Filter())
    assert target.read_text() == "mine"
    with pytest.raises(JobError, match="Cannot write"):
        export(store.path, target / "inside a file", format_name, Filter())
    assert list(tmp_path.glob("*.partial")) == []


def test_an_unknown_format_lists_the_known(store: Store, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="csv, json, parquet"):
        export(store.path, tmp_path / "out", "excel", Filter())


def test_many_records_take_little_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No more than a chunk of records is ever alive."""
    import modeldyno.store.export as module

    store = Store(tmp_path / "s.duckdb")
    run = Run(host=HOST, command="c", version="0")
    store.add([run, *(full(run, number % 3) for number in range(60))])
    asked: list[int] = []
    read = module.read_records

    def counting(*arguments: object) -> list[Record]:
        found = read(*arguments)  # type: ignore[arg-type]
        asked.append(len(found))
        return found

    monkeypatch.setattr(module, "read_records", counting)
    monkeypatch.setattr(module, "_AT_ONCE", 25)
    assert export(store.path, tmp_path / "out", "parquet", Filter()).counts["record"] == 60
    assert asked == [25, 25, 10]
