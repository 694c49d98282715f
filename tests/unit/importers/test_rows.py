"""Tables: columns by name or by mapping, units, per item against per batch, four notations of time, truth as text."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import duckdb
import pytest
from hypothesis import given
from hypothesis import strategies as st
from reading import Reading, read_json, read_text

from modeldyno.core.errors import InputError
from modeldyno.core.types import Provenance, Status
from modeldyno.importers._batch import Wanted, import_paths
from modeldyno.importers._words import moment_of, number_of, platform_of, precision_of, truth_of
from modeldyno.store.store import Store

FLAT = {
    "model_name": "bert-base-uncased",
    "model_family": "bert",
    "hardware_type": "cpu",
    "device_name": "Intel Core i9-12900K",
    "batch_size": 8,
    "precision": "fp32",
    "average_latency_ms": 19.1,
    "throughput_items_per_second": 52.4,
    "memory_peak_mb": 1536.2,
}


def test_a_latency_per_item_becomes_one_per_step(tmp_path: Path) -> None:
    got = read_json(tmp_path, [FLAT])
    (record,) = got.records
    assert got.format == "rows"
    assert record.value("latency_mean_ms") == pytest.approx(152.8)
    assert "19.1 ms per item" in record.log
    assert (record.value("throughput_per_s"), record.value("memory_peak_mb")) == (52.4, 1536.2)
    assert (record.device.name, record.provenance) == ("Intel Core i9-12900K", Provenance.IMPORTED)


def test_a_latency_per_batch_stays(tmp_path: Path) -> None:
    (record,) = read_json(tmp_path, [{**FLAT, "average_latency_ms": 152.7}]).records
    assert record.value("latency_mean_ms") == 152.7


def test_all_latencies_of_an_item_become_those_of_a_step(tmp_path: Path) -> None:
    row = {"model": "m", "platform": "cpu", "batch": 8, "latency_ms": 2, "latency_p99_ms": 3, "throughput_per_s": 500}
    (record,) = read_json(tmp_path, [row]).records
    assert (record.value("latency_ms"), record.value("latency_p99_ms")) == (16, 24)


@pytest.mark.parametrize(
    ("word", "status"),
    [("invalid", "invalid"), ("skipped", "skipped"), ("timeout", "failed"), ("OK", "ok"), ("passed", "ok")],
)
def test_words_for_the_outcome(tmp_path: Path, word: str, status: str) -> None:
    (record,) = read_json(tmp_path, [{"model": "m", "platform": "cpu", "latency_ms": 1.5, "status": word}]).records
    assert record.status.value == status
    assert bool(record.metrics) == (status == "ok")


def test_what_calls_itself_simulated_stays_so(tmp_path: Path) -> None:
    row = {"model": "m", "platform": "cpu", "latency_ms": 1.5, "provenance": "predicted"}
    (record,) = read_json(tmp_path, [row]).records
    assert record.provenance is Provenance.SIMULATED


@pytest.mark.parametrize("size", ["auto", 0, 2.5, -1])
def test_a_batch_that_is_no_size_is_rejected(tmp_path: Path, size: object) -> None:
    got = read_json(tmp_path, [{"model": "m", "platform": "cpu", "latency_ms": 1.5, "batch": size}])
    assert (got.records, len(got.rejected)) == ([], 1)


def test_neither_is_a_contradiction(tmp_path: Path) -> None:
    (record,) = read_json(tmp_path, [{**FLAT, "average_latency_ms": 1000.0}]).records
    assert record.provenance is Provenance.SIMULATED


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
def test_csv_with_our_names(tmp_path: Path, delimiter: str) -> None:
    rows = [
        ["model", "platform", "device", "batch", "latency_ms", "success", "timestamp"],
        ["gpt2", "CUDA", "Tesla T4", "2", "12.5", "true", "2025-02-28 20:25:42"],
        ["gpt2", "cuda:0", "Tesla T4", "4", "", "False", "1740774342"],
        ["", "cuda", "Tesla T4", "4", "3", "true", ""],
        ["gpt2", "abacus", "wood", "4", "3", "true", ""],
        ["gpt2", "cuda", "Tesla T4", "4", "fast", "true", ""],
    ]
    got = read_text(tmp_path, "\n".join(delimiter.join(row) for row in rows) + "\n")
    good, failed = got.records
    assert (good.case.platform, good.case.batch, good.value("latency_ms")) == ("cuda", 2, 12.5)
    assert good.started_at == failed.started_at == datetime(2025, 2, 28, 20, 25, 42, tzinfo=UTC)
    assert (failed.status, failed.metrics) == (Status.FAILED, {})
    assert [(r.place, r.reason.split(",")[0]) for r in got.rejected] == [
        ("row 3", "names no model; give one with --set model=NAME"),
        ("row 4", "names 'abacus'"),
        ("row 5", "has latency_ms 'fast'"),
    ]


def test_a_mapping_names_columns_and_units(tmp_path: Path) -> None:
    text = "net,secs,gigs\nresnet18,0.0125,1.5\n"
    mapping = {"model": "net", "latency_ms": "secs:s", "memory_peak_mb": "gigs:GB"}
    path = tmp_path / "table.csv"
    path.write_text(text)
    from modeldyno.importers._document import load
    from modeldyno.importers._sheet import Sheet
    from modeldyno.importers.rows import MEMBER

    document = load(path)
    sheet = Sheet(document, "rows", {"platform": "cpu"}, mapping)
    MEMBER.read(document, sheet)
    record = sheet.items[-1]
    assert (record.case.model, record.value("latency_ms"), record.value("memory_peak_mb")) == ("resnet18", 12.5, 1536.0)
    for wrong in ({"speed": "secs"}, {"latency_ms": "secs:furlong"}, {"latency_ms": "secs:gb"}):
        with pytest.raises(InputError, match="known"):
            MEMBER.read(document, Sheet(document, "rows", {}, wrong))


def test_parquet_and_lines_of_json_hold_rows_too(tmp_path: Path) -> None:
    path = tmp_path / "table"
    duckdb.sql(
        "SELECT 'gpt2' AS model, 'cpu' AS platform, 4::UTINYINT AS batch, 2.5::FLOAT AS latency_ms"
    ).write_parquet(str(path))
    (record,) = Reading(path).records
    assert (record.case.batch, record.value("latency_ms")) == (4, 2.5)
    line = '{"model": "gpt2", "platform": "cpu", "latency_ms": 3}\n'
    got = read_text(tmp_path, line + "{torn\n" + line)
    assert [r.value("latency_ms") for r in got.records] == [3, 3]
    assert got.rejected[0].place == "line 2"


class TestTimm:
    def test_rows_of_its_csv_with_facts_from_the_files_name(self, tmp_path: Path) -> None:
        path = tmp_path / "benchmark-infer-amp-nhwc-pt112-cu113-rtx3090.csv"
        path.write_text(
            "model,infer_samples_per_sec,infer_step_time,infer_batch_size,infer_img_size,infer_gmacs,param_count\n"
            "resnet50,2622.36,390.476,1024,224,4.09,25.56\n"
        )
        got = Reading(path)
        (record,) = got.records
        assert got.format == "timm"
        assert (record.case.platform, record.case.precision, record.case.options) == ("cuda", "amp", {"layout": "nhwc"})
        assert (record.value("latency_mean_ms"), record.value("throughput_per_s")) == (390.476, 2622.36)
        assert (record.model.parameters, record.device.name) == (25_560_000, "rtx3090")
        assert record.provenance is Provenance.IMPORTED


class TestAiHub:
    ROW = (
        "'aotgan' AS model, 'v0.16.2' AS first_release, '2024-10-21' AS first_date, 'AOT-GAN' AS component, "
        "'Samsung Galaxy S24' AS device, 'tflite' AS runtime, 'w8a16' AS precision, 'jp1y4d0np' AS job_id, "
        "4.5::FLOAT AS latency_ms, 704.0 AS mem_max_mb, 'NPU' AS compute_unit, 40 AS layers_npu, 0 AS layers_cpu, "
        "'qairt=2.42.0;tflite=2.17.0' AS tool_versions"
    )

    def test_a_row_of_the_table(self, tmp_path: Path) -> None:
        path = tmp_path / "table"
        duckdb.sql(f"SELECT {self.ROW} UNION ALL SELECT {self.ROW.replace('4.5', '1.8e16')}").write_parquet(str(path))
        got = Reading(path)
        (record,) = got.records
        assert (record.case.platform, record.case.precision, record.value("latency_ms")) == ("qnn", "w8a16", 4.5)
        assert record.case.options == {"component": "AOT-GAN", "compute_unit": "NPU"}
        assert (record.placement.nodes, record.software["tflite"]) == ({"NPU": 40}, "2.17.0")
        assert got.runs[0].started_at == datetime(2024, 10, 21, tzinfo=UTC)
        assert "1.79999" in got.rejected[0].reason

    def test_perf_yaml_is_in_microseconds_and_bytes(self, tmp_path: Path) -> None:
        text = """models:
- name: Yolo
  performance_metrics:
  - torchscript_onnx_tflite:
      inference_time: 3364.0
      estimated_peak_memory_range:
        min: 12288
        max: 2440984
      primary_compute_unit: NPU
      precision: fp16
      job_id: jz5
    reference_device_info:
      name: Samsung Galaxy S23
"""
        (record,) = read_text(tmp_path, text).records
        assert (record.case.model, record.case.runtime, record.value("latency_ms")) == ("Yolo", "tflite", 3.364)
        assert record.value("memory_peak_mb") == 2440984 / 2**20


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("2025-03-02T20:23:22.809413", datetime(2025, 3, 2, 20, 23, 22, 809413, tzinfo=UTC)),
        ("2025-03-02T20:23:22+02:00", datetime(2025, 3, 2, 18, 23, 22, tzinfo=UTC)),
        ("2025-02-28 20:25:42", datetime(2025, 2, 28, 20, 25, 42, tzinfo=UTC)),
        ("20250302_201142", datetime(2025, 3, 2, 20, 11, 42, tzinfo=UTC)),
        (1740730118.5, datetime(2025, 2, 28, 8, 8, 38, 500000, tzinfo=UTC)),
        (1740730118500, datetime(2025, 2, 28, 8, 8, 38, 500000, tzinfo=UTC)),
        ("1740730118", datetime(2025, 2, 28, 8, 8, 38, tzinfo=UTC)),
        ("yesterday", None),
        (True, None),
        (None, None),
        (1e300, None),
    ],
)
def test_moments(given: object, meant: datetime | None) -> None:
    assert moment_of(given) == meant


@pytest.mark.parametrize(
    ("given", "meant"),
    [("true", True), ("False", False), ("Success (REAL)", True), ("failed: x", False), (1, True), ("perhaps", None)],
)
def test_truth(given: object, meant: bool | None) -> None:
    assert truth_of(given) is meant


def test_names() -> None:
    assert [platform_of(name) for name in ("CUDA:1", "Apple", "qualcomm", "tpu")] == ["cuda", "mps", "qnn", None]
    assert [precision_of(name) for name in ("torch.float16", "FP32", "w8a16", "BFloat16")] == [
        "fp16",
        "fp32",
        "w8a16",
        "bf16",
    ]


@given(st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(), st.lists(st.integers())))
def test_words_never_raise(value: object) -> None:
    number_of(value)
    truth_of(value)
    moment_of(value)


def test_a_mapping_to_a_column_that_is_not_there_is_one_sentence(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("net,secs\nbert,0.1\nvit,0.2\n")
    wanted = Wanted("rows", {"platform": "cpu"}, {"model": "net", "latency_ms": "seconds:s"})
    (report,) = import_paths(Store(tmp_path / "s.duckdb"), [tmp_path / "t.csv"], wanted).files
    assert [rejection.reason for rejection in report.rejected] == [
        "has no column for --map latency_ms=seconds; its columns are net, secs"
    ]


def test_a_table_of_no_known_shape_says_what_it_has_and_what_to_do(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("net,secs\nbert,0.1\n")
    (report,) = import_paths(Store(tmp_path / "s.duckdb"), [tmp_path / "t.csv"]).files
    assert "with the columns net, secs; say which holds what" in (report.problem or "")


def test_what_nobody_can_say_for_a_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("model,platform,latency_ms\nbert,cpu,1\n")
    with pytest.raises(InputError, match="Unknown key of --set 'platfrom', did you mean 'platform'"):
        import_paths(Store(tmp_path / "s.duckdb"), [tmp_path / "t.csv"], Wanted(given={"platfrom": "cpu"}))
