"""Imports as a whole: nothing twice, nothing in part without saying so, nothing lost, whatever the files hold."""

from __future__ import annotations

import json
import os
import signal
from pathlib import Path

import duckdb
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import Case, Host, Provenance, Record, Run, Status
from modeldyno.importers import _batch
from modeldyno.importers._batch import Wanted, import_paths
from modeldyno.importers._document import Document, Unreadable, load, parse_json
from modeldyno.importers._sheet import Sheet
from modeldyno.importers.rows import Rows
from modeldyno.store.query import Filter
from modeldyno.store.spool import encode
from modeldyno.store.store import Store

ROW = {"model": "gpt2", "platform": "cpu", "latency_ms": 3.25}


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "dyno.duckdb")


def write(folder: Path, name: str, data: object) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(json.dumps(data))
    return path


def test_a_second_import_adds_nothing_even_under_another_name(store: Store, tmp_path: Path) -> None:
    first = write(tmp_path / "in", "a.json", [ROW])
    second = write(tmp_path / "in", "b.json", [ROW])
    (report,) = import_paths(store, [first]).files
    assert report.counts["records"] == 1
    assert import_paths(store, [first, second]).files == (
        _batch.FileReport(first, known=True),
        _batch.FileReport(second, known=True),
    )
    assert len(store.records(Filter())) == 1
    (done,) = store.imports()
    assert (done.format, done.file, done.size) == ("rows", str(first), first.stat().st_size)


def test_the_same_content_twice_in_one_import_is_stored_once(store: Store, tmp_path: Path) -> None:
    write(tmp_path / "in", "a.json", [ROW])
    write(tmp_path / "in", "b.json", [ROW])
    import_paths(store, [tmp_path / "in"])
    assert len(store.records(Filter())) == 1


def test_a_dry_run_reports_and_leaves_no_trace(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.json", [ROW, {"model": "gpt2"}])
    (report,) = import_paths(store, [path], dry_run=True).files
    assert (report.counts["records"], len(report.rejected)) == (1, 1)
    assert not store.path.exists()
    assert not store.spool.exists()


def test_rejections_are_kept_with_the_import(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.json", [ROW, {"model": "gpt2", "latency_ms": 1}])
    import_paths(store, [path])
    (done,) = store.imports()
    assert [(r.place, r.reason) for r in done.rejected] == [
        ("item 2", "names no platform; give one with --set platform=NAME")
    ]


def test_only_files_without_rejections_move_to_the_archive(store: Store, tmp_path: Path) -> None:
    good = write(tmp_path / "in", "good.json", [ROW])
    flawed = write(tmp_path / "in", "flawed.json", [ROW, {"model": "gpt2", "latency_ms": 1}])
    broken = tmp_path / "in" / "broken.json"
    broken.write_text('{"model": ')
    write(tmp_path / "archive", "good.json", "taken")
    import_paths(store, [tmp_path / "in"], archive=tmp_path / "archive")
    assert sorted(path.name for path in (tmp_path / "in").iterdir()) == ["broken.json", "flawed.json"]
    assert sorted(path.name for path in (tmp_path / "archive").iterdir()) == ["good-2.json", "good.json"]
    assert not good.exists()
    assert flawed.exists()


def test_what_was_rejected_can_be_tried_again_with_what_was_missing(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.json", [ROW, {"model": "gpt2", "latency_ms": 1.5}])
    first = import_paths(store, [path])
    assert [len(done.rejected) for done in store.imports()] == [1]
    second = import_paths(store, [path], Wanted(given={"platform": "cuda"}))
    assert [len(done.files[0].rejected) for done in (first, second)] == [1, 0]
    assert [done.new["record"] for done in (first, second)] == [1, 1]
    assert [len(done.rejected) for done in store.imports()] == [0]
    assert sorted(record.case.platform for record in store.records(Filter())) == ["cpu", "cuda"]


def test_a_shape_without_any_result_is_told_and_stays(store: Store, tmp_path: Path) -> None:
    path = write(tmp_path / "in", "a.json", {"benchmarks": {"bert": {"latency_ms": 3.2, "platform": "cuda"}}})
    (report,) = import_paths(store, [path], archive=tmp_path / "archive").files
    assert report.problem == "no result was found in it"
    assert path.exists()


def test_the_store_and_the_archive_are_not_imported(store: Store, tmp_path: Path) -> None:
    run = Run(host=Host(host_id="h"), command="c", version="0")
    writer = store.writer(run)
    writer.append(run)
    write(tmp_path / "done", "old.json", [ROW])
    write(tmp_path, "new.json", [{**ROW, "latency_ms": 7.25}])
    reports = import_paths(store, [tmp_path], archive=tmp_path / "done").files
    assert [report.file.name for report in reports] == ["new.json"]
    assert (store.spool / f"{run.run_id}.ndjson").exists()
    writer.close()


def test_lines_without_their_run_are_no_import(store: Store, tmp_path: Path) -> None:
    record = Record(run_id="nowhere", case=Case(model="m", platform="cpu", runtime="torch"), status=Status.FAILED)
    path = tmp_path / "orphans.ndjson"
    path.write_bytes(encode(record))
    with pytest.raises(JobError, match="belongs to run nowhere"):
        import_paths(store, [path], archive=tmp_path / "archive")
    assert path.exists()


def test_many_files_are_read_by_several_processes(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_batch, "SMALL", 0)
    for number in range(12):
        write(tmp_path / "in", f"{number}.json", [{**ROW, "latency_ms": number + 1.5}])
    import_paths(store, [tmp_path / "in"])
    values = sorted(record.value("latency_ms") for record in store.records(Filter()))
    assert values == [number + 1.5 for number in range(12)]


def test_the_same_round_time_in_unrelated_runs_is_no_measurement(store: Store, tmp_path: Path) -> None:
    for number, seconds in enumerate((0.1, 0.1, 0.2, 0.12345678901)):
        statuses = {"cpu_init": "Success (REAL)", "cpu_example": {"elapsed_time": seconds}}
        metadata = {"timestamp": f"2025-02-2{number}T00:00:00", "test_file": "skills/test_hf_bert.py"}
        write(tmp_path / "in", f"{number}.json", {"metadata": metadata, "results": statuses})
    import_paths(store, [tmp_path / "in"])
    by_value = {round(r.value("latency_ms")): r for r in store.records(Filter())}
    assert by_value[100].provenance is Provenance.SIMULATED
    assert by_value[100].evidence == ("exactly 100 ms stands in several unrelated results",)
    assert by_value[200].provenance is by_value[123].provenance is Provenance.IMPORTED


def test_an_import_that_dies_before_the_fold_is_finished_by_the_next_command(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write(tmp_path / "in", "a.json", [ROW])
    with monkeypatch.context() as patched:
        patched.setattr(Store, "fold", lambda _: os._exit(9))
        child = os.fork()
        if child == 0:
            import_paths(store, [path])
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 9
    assert store.fold().new["record"] == 1


def test_a_reader_that_is_killed_is_told_and_what_was_read_is_kept(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in "ab":
        write(tmp_path / "in", f"{name}.json", [{**ROW, "model": name}])

    class Deadly(Rows):
        def read(self, document: Document, sheet: Sheet) -> None:
            if document.file.endswith("b.json"):
                os.kill(os.getpid(), signal.SIGKILL)
            super().read(document, sheet)

    monkeypatch.setattr(_batch, "SMALL", 0)
    monkeypatch.setattr(_batch, "_importer", lambda *_: Deadly())
    monkeypatch.setattr(_batch, "available_cores", lambda: 2)
    with pytest.raises(JobError, match="in smaller parts"):
        import_paths(store, [tmp_path / "in"])
    monkeypatch.undo()
    import_paths(store, [tmp_path / "in"])
    assert sorted(record.case.model for record in store.records(Filter())) == ["a", "b"]


def test_no_such_path_or_format(store: Store, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no file"):
        import_paths(store, [tmp_path / "nowhere"])
    with pytest.raises(InputError, match="did you mean 'timm'"):
        import_paths(store, [tmp_path], Wanted(format="tim"))


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b'{"a": 1', "not JSON"),
        (b'{"a": 1, "a": 2}', "stands twice"),
        (b"[" * 100_000, "nested too deeply"),
        (b'{"a": ' + b"9" * 5000 + b"}", "not JSON"),
        (b'{"a": "\xff\xfe"}', "is not UTF-8"),
        (b"\x00\x01\x02", "neither text nor Parquet"),
        (b"PAR1 nonsense PAR1", "not sound Parquet"),
    ],
)
def test_broken_files_say_why(tmp_path: Path, content: bytes, reason: str) -> None:
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(Unreadable, match=reason):
        load(path)


def test_broken_quoting_ends_a_table_and_says_where(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text('model,platform,latency_ms\ngpt2,cpu,1.5\n"gpt2"x,cpu,2.5\ngpt2,cpu,3.5\n')
    (report,) = import_paths(store, [path]).files
    assert report.counts["records"] == 1
    assert report.rejected[0].place == "line 3 and all after it"


def test_parquet_of_wrong_types_is_rejected_row_by_row(store: Store, tmp_path: Path) -> None:
    path = tmp_path / "table.parquet"
    duckdb.sql("SELECT 1 AS model, [1, 2] AS platform, {a: 1} AS latency_ms, DATE '2025-01-01' AS batch").write_parquet(
        str(path)
    )
    (report,) = import_paths(store, [path]).files
    assert (report.counts["records"], len(report.rejected)) == (0, 1)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=12), inner, max_size=4),
    max_leaves=20,
)
WORDS = (
    "benchmarks stats model_results functionality_verification metadata results skill_tests test_file return_code",
    "summary model_families hardware_compatibility models performance_metrics model_name platform metrics kind data",
    "model latency_ms batch_sizes hardware_types report config context machine_info result_columns",
)
KEYS = st.sampled_from([word for line in WORDS for word in line.split()])
SHAPED = st.dictionaries(KEYS, st.recursive(JSON, lambda inner: st.dictionaries(KEYS, inner, max_size=3), max_leaves=8))
FUZZ = settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])


def _survives(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "fuzzed"
    path.write_bytes(content)
    report = _batch._read_one(path, Wanted(), None)
    assert report.problem or report.format
    assert _batch.FAULT not in (report.problem or "")


@FUZZ
@given(data=SHAPED | st.lists(SHAPED, max_size=3) | JSON)
def test_any_json_is_reported_never_a_traceback(tmp_path: Path, data: object) -> None:
    _survives(tmp_path, json.dumps(data).encode())


@FUZZ
@given(
    content=st.binary(max_size=200)
    | st.text(alphabet='{}[]":,\n0123456789aeE-+ \t;model', max_size=200).map(str.encode)
)
def test_any_bytes_are_reported_never_a_traceback(tmp_path: Path, content: bytes) -> None:
    _survives(tmp_path, content)


@FUZZ
@given(cut=st.integers(0, 400), flip=st.integers(0, 400))
def test_cut_and_flipped_files_are_reported_never_a_traceback(tmp_path: Path, cut: int, flip: int) -> None:
    lines = b'{"model":"gpt2","platform":"cpu","latency_ms":1.5,"batch":"2","success":"true"}\n' * 4
    content = bytearray(lines[:cut])
    if flip < len(content):
        content[flip] ^= 0x15
    _survives(tmp_path, bytes(content))


def test_duplicate_keys_are_refused_where_python_takes_the_last() -> None:
    with pytest.raises(Unreadable, match="'a' stands twice"):
        parse_json('[{"b": {"a": 1, "a": 1}}]')
