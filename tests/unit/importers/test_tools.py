"""Files of other tools: every number in our units, every case identified, and what cannot be taken rejected."""

from __future__ import annotations

import copy
import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tool_files import (
    APP_CSV,
    APP_CSV_CPP,
    APP_JSON,
    APP_JSON_CPP,
    APP_LOG,
    ASV,
    ASV_1,
    FILES,
    GOOGLE,
    MLPERF,
    OPTIMUM,
    OPTIMUM_REPORT,
    PYTEST,
    mlperf,
)

from modeldyno.core.types import Provenance, Record, Run, Status
from modeldyno.importers import IMPORTERS
from modeldyno.importers._document import load
from modeldyno.importers._sheet import Sheet

NAMED = {"model": "resnet50", "platform": "cuda"}


def read(tmp_path: Path, format_name: str, content: Any, **given: str) -> Sheet:
    file = tmp_path / "results"
    file.write_text(content if isinstance(content, str) else json.dumps(content))
    document = load(file)
    sheet = Sheet(document, format_name, given)
    IMPORTERS.get(format_name).read(document, sheet)
    return sheet


def records(sheet: Sheet) -> list[Record]:
    return [item for item in sheet.items if isinstance(item, Record)]


def only(sheet: Sheet) -> Record:
    assert sheet.rejected == ()
    (found,) = records(sheet)
    return found


def run_of(sheet: Sheet) -> Run:
    (found,) = [item for item in sheet.items if isinstance(item, Run)]
    return found


def numbers(record: Record) -> dict[str, float | None]:
    return {name: metric.value for name, metric in record.metrics.items()}


def changed(document: dict[str, Any], *path: Any, to: Any) -> dict[str, Any]:
    """A copy with another value at the path."""
    whole = copy.deepcopy(document)
    place: Any = whole
    for step in path[:-1]:
        place = place[step]
    place[path[-1]] = to
    return whole


@pytest.mark.parametrize("shape", FILES)
def test_exactly_one_importer_recognises_each_shape(tmp_path: Path, shape: str) -> None:
    name, content = FILES[shape]
    file = tmp_path / "anything"
    file.write_text(content)
    document = load(file)
    assert [importer.name for importer in IMPORTERS.all() if importer.recognises(document)] == [name]


# optimum-benchmark


def test_optimum_inference(tmp_path: Path) -> None:
    sheet = read(tmp_path, "optimum-benchmark", OPTIMUM)
    record, run = only(sheet), run_of(sheet)
    assert record.case.workload == "inference"
    assert (record.case.model, record.case.platform) == ("bert-base-uncased", "cuda")
    assert (record.case.runtime, record.case.precision, record.case.batch) == ("torch", "fp16", 4)
    assert record.case.shape == {"seq": 128, "num_choices": 2}
    assert record.device is not None
    assert record.device.name == "NVIDIA A10G"
    assert record.provenance is Provenance.IMPORTED
    assert numbers(record) == pytest.approx(
        {
            "latency_ms": 20,
            "latency_mean_ms": 20,
            "latency_min_ms": 10,
            "latency_max_ms": 30,
            "latency_p90_ms": 28,
            "latency_p95_ms": 29,
            "latency_p99_ms": 29.8,
            "latency_stddev_ms": 8,
            "throughput_per_s": 200,
            "load_ms": 1500,
            "first_ms": 250,
            "energy_j": 1.8,
            "memory_peak_mb": 250,
            "memory_host_peak_mb": 1000,
            "memory_reserved_mb": 500,
            "memory_process_mb": 2000,
        }
    )
    assert record.samples[0].host_ms == pytest.approx([10, 20, 30])
    assert record.software == {
        "torch": "2.5.1",
        "transformers": "4.47.0",
        "python": "3.10.14",
        "optimum_benchmark": "0.6.0",
    }
    assert (run.name, run.version, run.host.cpu, run.host.logical_cores) == ("cuda_bert", "0.6.0", "AMD EPYC 7R32", 16)
    assert run.host.memory_mb == pytest.approx(66697.26e6 / 2**20)


def test_optimum_report_alone_needs_names_and_tells_its_batch(tmp_path: Path) -> None:
    sheet = read(tmp_path, "optimum-benchmark", OPTIMUM_REPORT)
    assert [(r.place, r.reason) for r in sheet.rejected] == [
        ("forward", "names no model; give one with --set model=NAME")
    ]
    record = only(read(tmp_path, "optimum-benchmark", OPTIMUM_REPORT, **NAMED))
    assert (record.case.model, record.case.platform, record.case.batch) == ("resnet50", "cuda", 4)


def test_optimum_generation_counts_tokens_not_samples(tmp_path: Path) -> None:
    latency = OPTIMUM_REPORT["forward"]["latency"]
    step = {"memory": None, "latency": latency, "throughput": None, "energy": None, "efficiency": None}
    report = {
        "generate": {**step, "throughput": {"unit": "samples/s", "value": 19800.0}},
        "prefill": {**step, "throughput": {"unit": "samples/s", "value": 200.0}},
        "decode": {**step, "throughput": {"unit": "tokens/s", "value": 19800.0}},
    }
    record = only(read(tmp_path, "optimum-benchmark", {"config": OPTIMUM["config"], "report": report}))
    assert record.case.workload == "generation"
    assert record.provenance is Provenance.IMPORTED
    found = numbers(record)
    assert (found["first_token_ms"], found["tokens_per_s"]) == pytest.approx((20, 19800))
    assert "throughput_per_s" not in found


@pytest.mark.parametrize(
    ("backend", "platform", "runtime", "precision"),
    [
        ({"name": "openvino", "device": "gpu", "load_in_8bit": True}, "openvino", "openvino", "int8"),
        ({"name": "pytorch", "device": "cpu", "torch_compile": True}, "cpu", "torch-compile", "unstated"),
        ({"name": "onnxruntime", "device": "cpu", "torch_dtype": "auto"}, "cpu", "onnxruntime", "unstated"),
        ({"name": "pytorch", "device": "cpu", "quantization_scheme": "gptq"}, "cpu", "torch", "gptq"),
        (
            {"name": "pytorch", "device": "cpu", "autocast_enabled": True, "autocast_dtype": "bfloat16"},
            "cpu",
            "torch",
            "bf16",
        ),
    ],
)
def test_optimum_backends(tmp_path: Path, backend: Any, platform: str, runtime: str, precision: str) -> None:
    document = changed(OPTIMUM, "config", "backend", to={"model": "bert-base-uncased", **backend})
    case = only(read(tmp_path, "optimum-benchmark", document)).case
    assert (case.platform, case.runtime, case.precision) == (platform, runtime, precision)


def test_optimum_calls_rocm_cuda(tmp_path: Path) -> None:
    document = changed(OPTIMUM, "config", "environment", "gpu", to=["AMD INSTINCT MI250"])
    assert only(read(tmp_path, "optimum-benchmark", document)).case.platform == "rocm"


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("report", "forward", "latency", "unit"), "h", "is not in seconds"),
        (("report", "forward", "latency"), [1], "is not in seconds"),
        (("report", "forward", "latency", "p50"), float("nan"), "latency_ms nan"),
        (("report", "forward", "latency", "values"), ["x"], "sample of 'x'"),
        (("config", "backend", "model"), None, "names no model"),
        (("config", "backend", "device"), "xla", "none of the platforms"),
        (("report",), {"load_model": OPTIMUM_REPORT["load_model"]}, "has none of forward"),
        (("report",), [], "has none of forward"),
    ],
)
def test_optimum_rejects(tmp_path: Path, path: tuple[str, ...], value: Any, reason: str) -> None:
    sheet = read(tmp_path, "optimum-benchmark", changed(OPTIMUM, *path, to=value))
    assert records(sheet) == []
    assert reason in sheet.rejected[0].reason


# pytest-benchmark


def test_pytest_benchmark(tmp_path: Path) -> None:
    sheet = read(tmp_path, "pytest-benchmark", PYTEST)
    assert sheet.rejected == ()
    sort, bert = records(sheet)
    run = run_of(sheet)
    assert (sort.case.workload, sort.case.model) == ("function", "tests/test_x.py::test_sort[100]")
    assert (sort.case.platform, sort.case.batch, sort.case.runtime, sort.case.options) == ("cpu", 1, "unstated", {})
    assert sort.device is not None
    assert sort.device.name == "Intel(R) Xeon(R) Processor"
    assert numbers(sort) == pytest.approx(
        {
            "latency_ms": 1.5,
            "latency_mean_ms": 2,
            "latency_min_ms": 1,
            "latency_max_ms": 4,
            "latency_stddev_ms": 0.5,
        }
    )
    assert sort.samples[0].host_ms == pytest.approx([1, 1.5, 4])
    assert (bert.case.model, bert.case.platform, bert.case.precision) == ("bert-base-uncased", "cuda", "fp16")
    assert (bert.case.runtime, bert.case.batch) == ("torch", 8)
    assert bert.case.options == {"function": "tests/test_x.py::test_bert"}
    assert bert.value("latency_ms") == pytest.approx(500)
    assert bert.device is None
    moment = datetime(2025, 6, 15, 14, 23, 7, 123456, UTC)
    assert (run.started_at, sort.started_at, run.commit, run.version) == (moment, moment, "a" * 40, "5.1.0")
    assert (run.host.hostname, run.host.system, run.host.logical_cores) == ("builder", "Linux", 2)
    assert (run.host.cpu, run.host.python) == ("Intel(R) Xeon(R) Processor", "3.11.7")


def test_pytest_benchmark_hears_the_user_where_the_file_is_silent(tmp_path: Path) -> None:
    sheet = read(tmp_path, "pytest-benchmark", PYTEST, model="resnet50", platform="mps", batch="2", device="M4")
    sort, bert = records(sheet)
    assert (sort.case.model, sort.case.platform, sort.case.batch) == ("resnet50", "mps", 2)
    assert sort.device is not None
    assert sort.device.name == "M4"
    assert (bert.case.model, bert.case.platform, bert.case.batch) == ("bert-base-uncased", "cuda", 8)


def test_a_function_that_says_it_is_simulated_is_believed(tmp_path: Path) -> None:
    document = changed(PYTEST, "benchmarks", 0, "extra_info", to={"is_simulated": True})
    assert records(read(tmp_path, "pytest-benchmark", document))[0].provenance is Provenance.SIMULATED


@pytest.mark.parametrize(
    ("path", "value", "place", "reason"),
    [
        (("benchmarks", 0), 7, "benchmarks[0]", "has no name"),
        (("benchmarks", 0, "stats"), None, "benchmarks[0]", "has no stats"),
        (("benchmarks", 0, "stats"), {}, "benchmarks[0]", "has no number"),
        (("benchmarks", 0, "stats", "mean"), float("inf"), "benchmarks[0]", "latency_mean_ms inf"),
        (("benchmarks", 0, "stats", "min"), -1, "benchmarks[0]", "latency_min_ms -1000"),
        (("benchmarks", 0, "extra_info"), {"platform": "abacus"}, "benchmarks[0]", "none of the platforms"),
        (("benchmarks", 0, "extra_info"), {"batch": "many"}, "benchmarks[0]", "many"),
    ],
)
def test_pytest_benchmark_rejects(tmp_path: Path, path: tuple[Any, ...], value: Any, place: str, reason: str) -> None:
    sheet = read(tmp_path, "pytest-benchmark", changed(PYTEST, *path, to=value))
    assert len(records(sheet)) == 1
    assert [r.place for r in sheet.rejected] == [place]
    assert reason in sheet.rejected[0].reason


# google/benchmark


def test_google_benchmark(tmp_path: Path) -> None:
    sheet = read(tmp_path, "google-benchmark", GOOGLE)
    assert sheet.rejected == ()
    copied, single, broken, skipped = records(sheet)
    run = run_of(sheet)
    assert (copied.case.workload, copied.case.model, copied.case.platform) == ("function", "BM_Copy/64", "cpu")
    assert copied.samples[0].host_ms == pytest.approx([0.005, 0.007, 0.009])
    assert numbers(copied) == pytest.approx(
        {
            "latency_ms": 0.007,
            "latency_mean_ms": 0.007,
            "latency_stddev_ms": 0.002,
            "cpu_time_ms": 0.0035,
            "throughput_per_s": 64e9 / 7000,
        }
    )
    assert copied.provenance is Provenance.IMPORTED
    assert numbers(single) == pytest.approx({"latency_ms": 0.0025, "latency_mean_ms": 0.0025, "cpu_time_ms": 0.00225})
    assert single.metrics["latency_ms"].note == "mean of 890432 iterations"
    assert (broken.status, broken.reason, broken.metrics) == (Status.FAILED, "no data", {})
    assert (skipped.status, skipped.reason) == (Status.SKIPPED, "old")
    assert run.started_at == datetime(2025, 6, 15, 12, 23, 7, tzinfo=UTC)
    assert (run.host.hostname, run.host.logical_cores) == ("build-server", 8)
    assert (run.name, run.version) == ("./my_benchmarks", "v1.9.1")


def test_google_benchmark_with_repetitions_or_aggregates_only(tmp_path: Path) -> None:
    rows = GOOGLE["benchmarks"]
    repeated = only(read(tmp_path, "google-benchmark", {**GOOGLE, "benchmarks": rows[:2]}))
    assert repeated.value("latency_ms") == pytest.approx(0.006)
    assert repeated.value("latency_mean_ms") == pytest.approx(0.006)
    aggregated = only(read(tmp_path, "google-benchmark", {**GOOGLE, "benchmarks": rows[3:7]}))
    assert aggregated.value("latency_ms") == pytest.approx(0.007)
    assert aggregated.samples == ()


@pytest.mark.parametrize(("unit", "expected"), [("ns", 2.5e-6), ("us", 0.0025), ("ms", 2.5), ("s", 2500)])
def test_google_benchmark_units(tmp_path: Path, unit: str, expected: float) -> None:
    row = {**GOOGLE["benchmarks"][7], "time_unit": unit}
    record = only(read(tmp_path, "google-benchmark", {**GOOGLE, "benchmarks": [row]}))
    assert record.value("latency_ms") == pytest.approx(expected)
    assert record.value("cpu_time_ms") == pytest.approx(expected * 0.9)


def test_google_benchmark_of_old(tmp_path: Path) -> None:
    row = {"name": "BM_SetInsert/1024/1", "iterations": 94877, "real_time": 29275, "cpu_time": 29836}
    context = {"date": "2015/03/17-18:40:25", "num_cpus": 40, "mhz_per_cpu": 2801, "build_type": "debug"}
    record = only(read(tmp_path, "google-benchmark", {"context": context, "benchmarks": [row]}))
    assert record.started_at == datetime(2015, 3, 17, 18, 40, 25, tzinfo=UTC)
    assert record.value("latency_ms") == pytest.approx(0.029275)


def test_google_benchmark_takes_a_model_from_its_context(tmp_path: Path) -> None:
    document = changed(GOOGLE, "context", "model", to="resnet50")
    assert records(read(tmp_path, "google-benchmark", document))[1].case.options == {"function": "BM_Serialize"}


@pytest.mark.parametrize(
    ("path", "value", "place", "reason"),
    [
        (("benchmarks", 7, "time_unit"), "fortnight", "BM_Serialize", "time unit 'fortnight'"),
        (("benchmarks", 7, "real_time"), None, "BM_Serialize", "nothing"),
        (("benchmarks", 7, "real_time"), float("nan"), "BM_Serialize", "nan"),
        (("benchmarks", 1, "real_time"), -7, "BM_Copy/64", "sample of -7e-06"),
        (("benchmarks", 7), [], "benchmarks[7]", "has no name"),
    ],
)
def test_google_benchmark_rejects(tmp_path: Path, path: tuple[Any, ...], value: Any, place: str, reason: str) -> None:
    sheet = read(tmp_path, "google-benchmark", changed(GOOGLE, *path, to=value))
    assert [r.place for r in sheet.rejected] == [place]
    assert reason in sheet.rejected[0].reason


# airspeed velocity


def test_asv(tmp_path: Path) -> None:
    sheet = read(tmp_path, "asv", ASV)
    first, skipped, third, failed, memory = records(sheet)
    run = run_of(sheet)
    assert [(r.place, r.reason) for r in sheet.rejected] == [
        ("bench.track_size", "is neither a time nor a peak of memory; its unit is not in this file")
    ]
    assert (first.case.workload, first.case.model, first.case.platform) == ("function", "bench.Suite.time_range", "cpu")
    assert first.case.options == {"param1": "10", "param2": "'a'"}
    assert third.case.options == {"param1": "100", "param2": "'a'"}
    assert numbers(first) == pytest.approx({"latency_ms": 1})
    assert first.samples[0].host_ms == pytest.approx([0.5, 1.5])
    assert (skipped.status, skipped.case.options["param2"]) == (Status.SKIPPED, "'b'")
    assert numbers(third) == pytest.approx({"latency_ms": 3})
    assert (failed.status, failed.metrics) == (Status.FAILED, {})
    assert numbers(memory) == pytest.approx({"memory_peak_mb": 100})
    assert first.started_at == run.started_at == datetime.fromtimestamp(1700000100, UTC)
    assert memory.started_at == datetime.fromtimestamp(1700000200, UTC)
    assert (first.duration_s, first.software) == (2.5, {"numpy": "2.0"})
    assert run.commit == "b" * 40
    assert run.host.model_dump(exclude={"host_id"}) == {
        "hostname": "vm",
        "system": "Linux 6.1",
        "cpu": "Intel Xeon",
        "logical_cores": 2,
        "memory_mb": 16384,
        "python": "3.11",
    }


def test_asv_version_1(tmp_path: Path) -> None:
    sheet = read(tmp_path, "asv", ASV_1)
    assert sheet.rejected == ()
    old, one, two, stats, failed = records(sheet)
    assert [r.value("latency_ms") for r in (old, one, two, stats)] == pytest.approx([2, 4, 5, 6])
    assert two.case.options == {"param1": "2"}
    assert stats.samples[0].host_ms == pytest.approx([6, 6])
    assert failed.status is Status.FAILED
    assert old.started_at == failed.started_at == datetime.fromtimestamp(1400000100, UTC)


@pytest.mark.parametrize(
    ("path", "value", "place", "reason"),
    [
        (("results",), [], "results", "is no object with results"),
        (("result_columns",), "result", "bench.Suite.time_range", "is no list of the columns' values"),
        (("results", "bench.Suite.time_range"), 3, "bench.Suite.time_range", "is no list of the columns' values"),
        (("results", "bench.Suite.time_range", 0), ["x"] * 4, "bench.Suite.time_range(10, 'a')", "latency_ms 'x'"),
        (("results", "bench.Suite.time_range", 0), [-1] * 4, "bench.Suite.time_range(10, 'a')", "latency_ms -1000"),
        (("results", "bench.Suite.time_range", 1), "10", "bench.Suite.time_range", "no list of lists of values"),
        (("results", "bench.Suite.time_range", 1), [[1] * 400] * 2, "bench.Suite.time_range", "more than 100000"),
    ],
)
def test_asv_rejects(tmp_path: Path, path: tuple[Any, ...], value: Any, place: str, reason: str) -> None:
    sheet = read(tmp_path, "asv", changed(ASV, *path, to=value))
    assert sheet.rejected[0].place == place
    assert reason in sheet.rejected[0].reason


# MLPerf


STEP = {
    "latency_ms": 2,
    "latency_mean_ms": 2.5,
    "latency_min_ms": 1,
    "latency_max_ms": 9,
    "latency_p90_ms": 3,
    "latency_p95_ms": 4,
    "latency_p99_ms": 6,
}


def test_mlperf_single_stream(tmp_path: Path) -> None:
    sheet = read(tmp_path, "mlperf", MLPERF, **NAMED, runtime="onnxruntime", precision="int8", device="H200")
    record = only(sheet)
    assert (record.status, record.provenance) == (Status.OK, Provenance.IMPORTED)
    assert (record.case.model, record.case.platform, record.case.runtime) == ("resnet50", "cuda", "onnxruntime")
    assert (record.case.precision, record.case.batch) == ("int8", 1)
    assert record.case.options == {"scenario": "SingleStream"}
    assert record.device is not None
    assert record.device.name == "H200"
    assert numbers(record) == pytest.approx({**STEP, "throughput_per_s": 400})
    assert run_of(sheet).name == "PySUT"


def test_mlperf_multi_stream_has_a_batch(tmp_path: Path) -> None:
    summary = mlperf("MultiStream", "99th percentile latency (ns) : 6000000", stats="Per-query latency:  ", per_query=8)
    record = only(read(tmp_path, "mlperf", summary, **NAMED))
    assert record.case.batch == 8
    assert numbers(record) == pytest.approx(STEP)


def test_mlperf_server_overlaps_queries(tmp_path: Path) -> None:
    stats = "Completed samples per second    : 12001.80\n"
    summary = mlperf("Server", "Scheduled samples per second : 12002.10", stats=stats)
    record = only(read(tmp_path, "mlperf", summary, **NAMED))
    assert record.provenance is Provenance.IMPORTED
    assert numbers(record) == pytest.approx({**STEP, "throughput_per_s": 12001.8})


def test_mlperf_offline_has_no_latency_of_a_step(tmp_path: Path) -> None:
    head = "Samples per second: 1434.8\nTokens per second: 40000"
    record = only(read(tmp_path, "mlperf", mlperf("Offline", head, per_query=24576), **NAMED, batch="64"))
    assert record.case.batch == 64
    assert numbers(record) == pytest.approx({"throughput_per_s": 1434.8, "tokens_per_s": 40000})


def test_mlperf_invalid(tmp_path: Path) -> None:
    record = only(read(tmp_path, "mlperf", mlperf("Offline", "Samples per second: 1.2", "INVALID"), **NAMED))
    assert (record.status, record.reason) == (Status.INVALID, "LoadGen says INVALID: missed Min duration")
    assert record.value("throughput_per_s") == pytest.approx(1.2)


@pytest.mark.parametrize("percentile", ["90th", "90.0th"])
def test_mlperf_headline_only(tmp_path: Path, percentile: str) -> None:
    summary = mlperf("Single Stream", f"{percentile} percentile latency (ns) : 8434934462").split("Additional Stats")[0]
    record = only(read(tmp_path, "mlperf", summary, **NAMED))
    assert record.case.options == {"scenario": "SingleStream"}
    assert numbers(record) == pytest.approx({"latency_p90_ms": 8434.934462})


@pytest.mark.parametrize(
    ("summary", "given", "reason"),
    [
        (MLPERF, {}, "--set model="),
        (MLPERF, {"model": "resnet50"}, "--set platform="),
        (MLPERF, {**NAMED, "platform": "abacus"}, "none of the platforms"),
        (MLPERF.replace("SingleStream", "Marathon"), NAMED, "scenario 'Marathon'"),
        (MLPERF.replace("PerformanceOnly", "AccuracyOnly"), NAMED, "accuracy run"),
        (MLPERF.replace(": 2000000", ": soon"), NAMED, "latency_ms 'soon'"),
        ("MLPerf Results Summary\n", NAMED, "scenario ''"),
    ],
)
def test_mlperf_rejects(tmp_path: Path, summary: str, given: dict[str, str], reason: str) -> None:
    sheet = read(tmp_path, "mlperf", summary, **given)
    assert records(sheet) == []
    assert reason in sheet.rejected[0].reason


# benchmark_app


def test_benchmark_app_log(tmp_path: Path) -> None:
    command = "$ benchmark_app -m /models/yolo11n.xml -d GPU -hint throughput\n"
    record = only(read(tmp_path, "benchmark-app", command + APP_LOG))
    assert (record.case.model, record.case.platform, record.case.runtime) == ("yolo11n", "openvino", "openvino")
    assert (record.case.precision, record.case.batch, record.case.options) == ("fp16", 8, {"requests": 4})
    assert record.device is not None
    assert record.device.name == "GPU.0"
    assert record.provenance is Provenance.IMPORTED
    assert numbers(record) == pytest.approx(
        {
            "latency_ms": 79.5,
            "latency_mean_ms": 80,
            "latency_min_ms": 60.25,
            "latency_max_ms": 120,
            "throughput_per_s": 400,
            "first_ms": 35,
            "load_ms": 110.75,
        }
    )


def test_benchmark_app_log_names_no_model(tmp_path: Path) -> None:
    sheet = read(tmp_path, "benchmark-app", APP_LOG)
    assert [(r.place, r.reason) for r in sheet.rejected] == [
        ("line 1", "names no model; give one with --set model=NAME")
    ]
    assert only(read(tmp_path, "benchmark-app", APP_LOG, model="resnet50")).case.model == "resnet50"
    named = APP_LOG.replace("Model0", "ResNet_18")
    assert only(read(tmp_path, "benchmark-app", named)).case.model == "ResNet_18"


def test_benchmark_app_log_of_two_runs(tmp_path: Path) -> None:
    log = "".join(f"benchmark_app -m {name}.xml\n{APP_LOG}" for name in ("first", "second"))
    assert [r.case.model for r in records(read(tmp_path, "benchmark-app", log))] == ["first", "second"]


def test_benchmark_app_prints_microseconds_and_percentiles(tmp_path: Path) -> None:
    log = APP_LOG.replace("Median:        79.50 ms", "90 percentile:     82.50 us").replace("80.00 ms", "80.00 us")
    found = numbers(only(read(tmp_path, "benchmark-app", log, model="m1")))
    assert (found["latency_p90_ms"], found["latency_mean_ms"]) == pytest.approx((0.0825, 0.08))
    assert "latency_ms" not in found


def test_benchmark_app_that_is_faster_than_possible_is_simulated(tmp_path: Path) -> None:
    record = only(read(tmp_path, "benchmark-app", APP_LOG.replace("400.00 FPS", "4000.00 FPS"), model="m1"))
    assert record.provenance is Provenance.SIMULATED
    assert record.evidence == (
        "steps of 79.5 ms at batch 8, 4 at once, give at most 402.5 items/s, but the throughput given is 4000",
    )


def test_benchmark_app_json(tmp_path: Path) -> None:
    record = only(read(tmp_path, "benchmark-app", APP_JSON))
    assert (record.case.model, record.case.batch, record.case.options) == ("resnet50", 2, {"requests": 2})
    assert record.device is not None
    assert record.device.name == "CPU"
    assert numbers(record) == pytest.approx(
        {
            "latency_ms": 9.5,
            "latency_mean_ms": 10,
            "latency_min_ms": 8,
            "latency_max_ms": 25,
            "throughput_per_s": 400,
            "first_ms": 0.43,
            "load_ms": 38.74,
        }
    )


def test_benchmark_app_json_of_cpp(tmp_path: Path) -> None:
    record = only(read(tmp_path, "benchmark-app", APP_JSON_CPP))
    assert (record.case.model, record.case.batch, record.case.options) == ("mobilenet", 1, {"requests": 4})
    assert record.device is not None
    assert record.device.name == "NPU"
    assert numbers(record) == pytest.approx(
        {
            "latency_p90_ms": 6.5,
            "latency_mean_ms": 5,
            "latency_min_ms": 4,
            "latency_max_ms": 9,
            "throughput_per_s": 800,
        }
    )


@pytest.mark.parametrize("report", [APP_CSV, APP_CSV_CPP])
def test_benchmark_app_csv(tmp_path: Path, report: str) -> None:
    record = only(read(tmp_path, "benchmark-app", report))
    assert (record.case.model, record.case.options) == ("squeezenet1.1", {})
    found = numbers(record)
    latencies = [found[f"latency_{name}"] for name in ("ms", "mean_ms", "min_ms", "max_ms")]
    assert latencies == pytest.approx([3.9, 4, 3.5, 7.2])
    assert found["throughput_per_s"] == pytest.approx(250)


def test_benchmark_app_that_failed(tmp_path: Path) -> None:
    report = {"cmd_options": {"-m": "a.xml", "-d": "GPU"}, "execution_results": {"error": "no GPU here"}}
    record = only(read(tmp_path, "benchmark-app", report))
    assert (record.status, record.reason, record.case.model) == (Status.FAILED, "no GPU here", "a")
    log = APP_LOG.split("[Step 4/11]")[0] + "[ ERROR ] Could not open the file\n"
    record = only(read(tmp_path, "benchmark-app", log, model="m1"))
    assert (record.status, record.reason) == (Status.FAILED, "Could not open the file")


@pytest.mark.parametrize(
    ("path", "value", "reason"),
    [
        (("execution_results", "throughput"), "fast", "throughput_per_s 'fast'"),
        (("execution_results", "avg latency"), float("inf"), "latency_mean_ms inf"),
        (("configuration_setup", "batch size"), "-4", "batch"),
        (("cmd_options",), None, "names no model"),
    ],
)
def test_benchmark_app_rejects(tmp_path: Path, path: tuple[str, ...], value: Any, reason: str) -> None:
    sheet = read(tmp_path, "benchmark-app", changed(APP_JSON, *path, to=value))
    assert records(sheet) == []
    assert reason in sheet.rejected[0].reason
