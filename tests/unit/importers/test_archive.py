"""The shapes of archived result files, written by hand: what was measured, what failed, what was made up."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from reading import read_json

from modeldyno.core.types import Provenance, Status

SYSTEM = {
    "platform": "Linux-6.8",
    "processor": "x86_64",
    "hostname": "box",
    "cpu_count_logical": 8,
    "total_memory_gb": 62.0,
    "python_version": "3.12.3",
    "cuda_devices": [{"name": "Quadro P4000", "total_memory_gb": 8.0}],
}


def sweep(hardware: str, points: dict, **entry: object) -> dict:
    inner = {"status": "completed", "model_name": "gpt2", "model_class": "GPT2LMHeadModel", "hardware": hardware}
    by_hardware = {hardware: {**inner, "benchmark_results": points, **entry}}
    return {
        "timestamp": "20250303_051018",
        "system_info": SYSTEM,
        "benchmarks": {"text_generation": {"gpt2": by_hardware}},
    }


class TestSweeps:
    def test_seconds_become_milliseconds_to_the_digit(self, tmp_path: Path) -> None:
        point = {
            "status": "completed",
            "latencies": [0.11909914016723633, 0.1, 0.3],
            "avg_latency": 0.17303304672241211,
            "throughput": 23.1,
            "iterations": 3,
        }
        got = read_json(tmp_path, sweep("cpu", {"batch_4_seq_128": point}, model_load_time=2.5))
        (record,) = got.records
        assert got.format == "benchmark-sweep"
        assert record.provenance is Provenance.IMPORTED
        assert record.samples[0].host_ms == [119.09914016723633, 100.0, 300.0]
        assert record.value("latency_ms") == 119.09914016723633
        assert record.value("latency_mean_ms") == 173.03304672241211
        assert record.value("load_ms") == 2500.0
        assert record.metrics["latency_ms"].n == 3
        assert (record.case.batch, record.case.shape, record.case.runtime) == (4, {"seq": 128}, "unstated")
        assert (record.model.family, record.device.name) == ("text_generation", "x86_64 of box")
        (run,) = got.runs
        assert run.started_at == datetime(2025, 3, 3, 5, 10, 18, tzinfo=UTC)
        assert (run.host.hostname, run.host.logical_cores, run.host.memory_mb) == ("box", 8, 62.0 * 1024)

    def test_points_that_failed_have_a_reason_and_no_number(self, tmp_path: Path) -> None:
        points = {"batch_1_seq_32": {"status": "failed", "error": "no pad token"}}
        (record,) = read_json(tmp_path, sweep("cuda", points)).records
        assert (record.status, record.reason, record.metrics) == (Status.FAILED, "no pad token", {})
        assert (record.device.name, record.device.memory_mb) == ("Quadro P4000", 8 * 1024)

    def test_a_rate_that_contradicts_the_latency_gives_it_away(self, tmp_path: Path) -> None:
        point = {"status": "completed", "latencies": [0.1], "avg_latency": 0.1, "throughput": 500.0}
        (record,) = read_json(tmp_path, sweep("cpu", {"batch_1": point})).records
        assert record.provenance is Provenance.SIMULATED
        assert "at most 10 items/s" in record.evidence[0]

    def test_what_cannot_be_placed_is_rejected_with_its_place(self, tmp_path: Path) -> None:
        points = {"fast": {"status": "completed"}, "batch_1": {"status": "completed", "latencies": ["x"]}}
        got = read_json(tmp_path, sweep("tpu", points))
        assert not got.records
        assert [r.place.rsplit("/", 1)[-1] for r in got.rejected] == ["fast", "batch_1"]


class TestFunctionality:
    def test_verdicts_with_the_last_line_of_the_error(self, tmp_path: Path) -> None:
        data = {
            "stats": {"timestamp": "20250302_204854"},
            "model_results": {"clip": {"cpu": False}, "vit": {"cuda": "true"}},
            "detailed_results": [
                {
                    "model": "clip",
                    "hardware": "cpu",
                    "success": False,
                    "return_code": 1,
                    "stdout": "",
                    "stderr": "Traceback\n  File x\nAttributeError: no attribute 'run_tests'\n",
                }
            ],
        }
        got = read_json(tmp_path, data)
        clip, vit = got.tests
        assert got.format == "functionality"
        assert (clip.model, clip.platform, clip.status) == ("clip", "cpu", Status.FAILED)
        assert clip.reason == "AttributeError: no attribute 'run_tests'"
        assert (vit.model, vit.platform, vit.status) == ("vit", "cuda", Status.OK)

    def test_a_success_whose_output_says_mock_is_simulated(self, tmp_path: Path) -> None:
        entry = {
            "model": "clap",
            "hardware": "cpu",
            "success": True,
            "return_code": 0,
            "stdout": "x\n(MOCK) Using mock implementation for CPU CLAP\n",
        }
        data = {"stats": {}, "model_results": {}, "detailed_results": [entry]}
        (test,) = read_json(tmp_path, data).tests
        assert (test.status, test.provenance) == (Status.OK, Provenance.SIMULATED)
        assert "(MOCK)" in test.evidence[0]

    def test_inside_a_benchmark_run_the_models_have_their_full_names(self, tmp_path: Path) -> None:
        check = {"stats": {}, "model_results": {"bert": {"cpu": True}}, "detailed_results": []}
        data = {
            "timestamp": "20250302_204815",
            "models": {"bert": {"name": "bert-base-uncased", "family": "embedding"}},
            "functionality_verification": {"cpu": check},
            "performance_benchmarks": {"audio": {"status": "error", "error": "NameError: false"}},
        }
        got = read_json(tmp_path, data)
        assert got.tests[0].model == "bert-base-uncased"
        assert "NameError" in got.rejected[0].reason


def skill(statuses: dict, **more: object) -> dict:
    metadata = {"timestamp": "2025-02-28T00:12:55.721872", "test_file": "skills/test_hf_bert.py", "model": "hf_bert"}
    return {"metadata": {**metadata, "execution_time": 2.9}, "results": {"status": statuses, **more}}


class TestSkillStatus:
    def test_each_platform_has_its_own_verdict(self, tmp_path: Path) -> None:
        statuses = {
            "init": "Success",
            "cpu_init": "Success (REAL)",
            "cpu_handler": "Success (REAL)",
            "cuda_init": "Success (REAL)",
            "cuda_handler": "Error: out of memory",
            "apple_tests": "Apple Silicon not available",
            "qualcomm_init": "Success (MOCK)",
        }
        got = read_json(tmp_path, skill(statuses))
        by = {test.platform: test for test in got.tests}
        assert {name: test.status.value for name, test in by.items()} == {
            "cpu": "ok",
            "cuda": "failed",
            "mps": "skipped",
            "qnn": "ok",
        }
        assert by["cpu"].provenance is Provenance.IMPORTED
        assert [a.passed for a in by["cuda"].assertions] == [True, False]
        assert by["qnn"].provenance is Provenance.SIMULATED
        assert {test.model for test in got.tests} == {"bert"}, "a test model is not the published one"
        assert by["cpu"].duration_s == 2.9

    def test_success_without_initialisation_is_made_up(self, tmp_path: Path) -> None:
        statuses = {"openvino_init": "Failed OpenVINO initialization", "openvino_handler": "Success (REAL)"}
        (test,) = read_json(tmp_path, skill(statuses)).tests
        assert test.provenance is Provenance.SIMULATED
        assert "although openvino_init says" in test.evidence[0]

    def test_timed_examples_become_records(self, tmp_path: Path) -> None:
        examples = [
            {"platform": "CPU", "elapsed_time": 0.0009186267852783203, "timestamp": "2025-02-28T00:12:54.604880"},
            {"platform": "CUDA", "elapsed_time": 0.005959272384643555, "is_simulated": True},
            {"platform": "OpenVINO", "elapsed_time": 0.1, "output": {"text": "(MOCK) words"}},
            {"platform": "Qualcomm", "elapsed_time": 4.0e-06},
        ]
        statuses = {"cpu_init": "Success (REAL)", "cuda_benchmark": {"cuda_device": "Quadro P4000"}}
        got = read_json(tmp_path, skill(statuses, examples=examples))
        cpu, cuda, openvino, qnn = sorted(got.records, key=lambda r: r.case.platform)
        assert (cpu.provenance, cpu.value("latency_ms")) == (Provenance.IMPORTED, 0.9186267852783203)
        assert cpu.started_at == datetime(2025, 2, 28, 0, 12, 54, 604880, tzinfo=UTC)
        assert "is_simulated" in cuda.evidence[0]
        assert cuda.device.name == "Quadro P4000"
        assert "(MOCK) words" in openvino.evidence[0]
        assert "shorter than a call" in qnn.evidence[0]

    def test_wrappers_with_a_printed_result_or_only_a_return_code(self, tmp_path: Path) -> None:
        told = {"return_code": 0, "elapsed_time": 8.7, "stdout": "", "json_result": {"cpu_init": "Success (REAL)"}}
        silent = {"return_code": 1, "stderr": "SyntaxError: unterminated string"}
        unknown = {"return_code": 0, "json_result": {"status": {"cpu": "UNKNOWN"}, "model_name": "Unknown"}}
        tests = {"test_hf_t5.py": told, "test_hf_llama.py": silent, "test_hf_clip.py": unknown}
        data = {"timestamp": "2025-02-28T01:28:40", "python_version": "3.12.3", "command": "run", "skill_tests": tests}
        got = read_json(tmp_path, data)
        (test,) = got.tests
        assert (test.model, test.platform, test.status) == ("t5", "cpu", Status.OK)
        assert ["SyntaxError" in r.reason or "told no result" in r.reason for r in got.rejected] == [True, True]
        assert got.runs[0].command == "run"

    @pytest.mark.parametrize(
        "data",
        [
            {"test_file": "test_hf_bert.py", "return_code": 0, "json_result": {"cuda_handler": "Success (REAL)"}},
            {"test_hf_bert": {"cuda_handler": "Success"}, "test_hf_llama": "'transformers'"},
            {
                "metadata": {"timestamp": "2025-02-28T00:09:16", "test_files": ["skills/test_hf_bert.py"]},
                "results": {"skills/test_hf_bert.py": {"performance_metrics": {"cuda": {"handler": "Success"}}}},
            },
        ],
        ids=["one wrapper", "one machine", "one batch"],
    )
    def test_the_same_statuses_in_other_wrappings(self, tmp_path: Path, data: dict) -> None:
        got = read_json(tmp_path, data)
        (test,) = got.tests
        assert (got.format, test.model, test.platform) == ("skill-status", "bert", "cuda")


def test_web_results_are_judged_by_every_flag(tmp_path: Path) -> None:
    data = {
        "model_name": "prajjwal1/bert-tiny",
        "platform": "webnn",
        "status": "success",
        "browser_opened": False,
        "timestamp": "2025-03-02T23:11:00.555128",
        "platform_support": {"simulated": True},
        "is_simulation": True,
        "metrics": {"inference_time_ms": 120, "load_time_ms": 350, "throughput_items_per_second": 66.67},
    }
    (record,) = read_json(tmp_path, data).records
    assert record.provenance is Provenance.SIMULATED
    assert len(record.evidence) == 4
    assert (record.case.model, record.case.platform, record.value("load_ms")) == ("bert-tiny", "webnn", 350)


def test_tests_without_a_platform_need_the_user_to_name_it(tmp_path: Path) -> None:
    outcome = {"status": "failed", "return_code": 1, "stderr": "NameError: x", "elapsed_time": 4.5}
    data = {"test_timestamp": "2025-03-01T15:09:24", "summary": {"total": 1}, "model_results": {"canine": outcome}}
    assert read_json(tmp_path, data).rejected[0].reason.startswith("names no platform")
    (test,) = read_json(tmp_path, data, given={"platform": "cpu"}).tests
    assert (test.model, test.platform, test.status, test.reason) == ("canine", "cpu", Status.FAILED, "NameError: x")


def test_a_matrix_tells_outcomes_and_its_means_are_rejected(tmp_path: Path) -> None:
    good = {"mean_latency": 1.78, "mean_throughput": 4.9, "timestamp": "2025-03-03T05:23:03", "model_name": "gpt2"}
    cells = {
        "cpu": {"compatible": True, "benchmark_results": [good]},
        "cuda": {"compatible": False, "benchmark_results": [{"model_name": "gpt2"}]},
        "openvino": {"compatible": False, "benchmark_results": []},
    }
    got = read_json(tmp_path, {"model_families": {"text_generation": {"hardware_compatibility": cells}}})
    assert [(test.platform, test.status) for test in got.tests] == [("cpu", Status.OK), ("cuda", Status.FAILED)]
    assert ["mean over several" in r.reason or r.reason.startswith("names no model") for r in got.rejected] == [
        True,
        True,
    ]
    assert not got.records


@pytest.mark.parametrize(
    "data",
    [
        {"batch_sizes": [1], "hardware_types": ["cpu"], "model_families": {"vision": ["vit"]}},
        {"bert": {"name": "bert-base-uncased", "family": "embedding"}},
        {"inference": {}, "training": {}},
        {"timestamp": "2025-02-28 20:33:53", "known_models": [], "api_models": []},
        {"hardware_types": [], "model_families": {"x": {"hardware_results": {}}}, "performance_comparison": {}},
    ],
)
def test_files_without_results_are_known_as_such(tmp_path: Path, data: dict) -> None:
    got = read_json(tmp_path, data)
    assert (got.format, got.records, got.tests, got.rejected) == ("without-results", [], [], ())


def test_hosted_models_have_no_platform(tmp_path: Path) -> None:
    models = [{"model": "llama3-8b-8192", "response_time": 0.32, "success": True}]
    got = read_json(tmp_path, {"timestamp": "2025-02-28 20:25:42", "models": models})
    assert (got.format, len(got.rejected), got.records) == ("service-results", 1, [])
