"""The main job from the command line: real workers, a real store, real models (the tiny siblings)."""

from __future__ import annotations

import json
import math
import statistics

import pytest

from modeldyno.core.metrics import METRICS

pytestmark = pytest.mark.slow


def test_the_main_job_on_three_runtimes(dyno) -> None:
    """Ok records with raw samples, interval, passport, requested and actual device, and proof of placement."""
    arguments = ("tiny-bert", "--on", "cpu,openvino", "--runtime", "torch,onnxruntime,openvino", "--seq", "32")
    done = dyno("run", *arguments, "--batch", "1,2", "--quick", "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    records = document["records"]
    assert len(records) == 12
    good = [record for record in records if record["status"] == "ok"]
    assert {(r["case"]["platform"], r["case"]["runtime"]) for r in good} == {
        ("cpu", "torch"), ("cpu", "onnxruntime"), ("openvino", "openvino"),
    }  # fmt: skip
    for record in good:
        check_ok_record(record)
    for record in records:
        if record["status"] != "ok":
            assert record["status"] == "skipped"
            assert record["reason"]
            assert record["metrics"] == {}
    shown = json.loads(dyno("show", "--json").stdout)["records"]
    assert {r["record_id"]: r["metrics"] for r in shown} == {r["record_id"]: r["metrics"] for r in records}
    assert {pick["model"] for pick in document["best"]} == {"tiny-bert"}


def check_ok_record(record: dict) -> None:
    metrics, samples = record["metrics"], record["samples"][0]
    assert set(metrics) <= set(METRICS)
    latency = metrics["latency_ms"]
    assert latency["value"] == pytest.approx(statistics.median(samples["host_ms"]))
    assert latency["low"] <= latency["value"] <= latency["high"]
    expected = record["case"]["batch"] * 1e3 / latency["value"]
    assert metrics["throughput_per_s"]["value"] == pytest.approx(expected)
    assert all(value > 0 and math.isfinite(value) for value in samples["host_ms"])
    assert len(samples["host_ms"]) >= 10
    assert record["check"]["passed"]
    assert record["check"]["rel_l2"] < 1e-3
    assert record["device"]["platform"] == record["case"]["platform"]
    assert record["placement"]["fallback"] == []
    assert record["placement"]["compute_precision"].lower() in ("float32", "f32")
    assert record["passport"]["verdict"] in ("valid", "ambiguous")
    assert record["model"]["weights"] == "random"
    assert record["provenance"] == "measured"
    assert record["profile"]


def test_several_processes_and_precisions(dyno) -> None:
    arguments = ("tiny-vit", "--on", "openvino", "--precision", "bf16,int8", "--processes", "2", "--quick")
    done = dyno("run", *arguments, "--json")
    records = {record["case"]["precision"]: record for record in json.loads(done.stdout)["records"]}
    assert [samples["process"] for samples in records["bf16"]["samples"]] in ([0, 1], [])
    if records["bf16"]["status"] == "ok":
        assert records["bf16"]["placement"]["compute_precision"].lower() == "bf16"
    assert records["int8"]["status"] == "skipped"
    assert "quantized" in records["int8"]["reason"]


def test_absent_hardware_is_skipped_with_its_reason_and_the_run_fails_when_nothing_succeeded(dyno) -> None:
    done = dyno("run", "tiny-bert", "--on", "mps,qnn,webnn,webgpu,cuda:7", "--quick", "--json")
    assert done.returncode == 1
    records = json.loads(done.stdout)["records"]
    assert {record["status"] for record in records} == {"skipped"}
    assert all(record["reason"] and record["remedy"] for record in records)
    assert all(record["device"] is None and not record["samples"] for record in records)


def test_tables_for_people(dyno) -> None:
    done = dyno("run", "tiny-vit", "--on", "cpu,mps", "--quick")
    assert done.returncode == 0
    for words in ("Results", "Not measured", "What to use", "items/s", "dyno show"):
        assert words in done.stdout
    assert "[1/2]" in done.stderr
    assert "±" in done.stdout or "ms [" in done.stdout, "every number has its interval"
    shown = dyno("show", "latest", "--profile", "--passport", "--metric", "latency_ms,load_ms").stdout
    for words in ("load ms", "Profile of tiny-vit", "Passport of tiny-vit", "run_queue_wait_share"):
        assert words in shown
    assert "skipped" in dyno("show", "--status", "skipped").stdout
    assert "No record of this run matches" in dyno("show", "--model", "tiny-bert").stdout
    assert "No record matches" in dyno("show", "all", "--batch", "8", "--runtime", "torch", "--since", "1d").stdout
    wrong = dyno("show", "--metric", "latency")
    assert (wrong.returncode, "did you mean 'latency_ms'" in wrong.stderr) == (2, True)


def test_the_plan_without_running_it(dyno, tmp_path) -> None:
    done = dyno("run", "tiny-bert", "llama-7b", "--on", "cpu,cuda", "--dry-run", "--json")
    cases = json.loads(done.stdout)["cases"]
    assert {(case["model"], case["platform"]): case["plan"].split(":")[0] for case in cases} == {
        ("tiny-bert", "cpu"): "measure", ("llama-7b", "cpu"): "measure",
        ("tiny-bert", "cuda"): "skipped", ("llama-7b", "cuda"): "skipped",
    }  # fmt: skip
    assert not list((tmp_path / "dyno.duckdb.spool").glob("*"))


def test_records_of_another_machine_stand_beside_ours(dyno, tmp_path) -> None:
    work = ("run", "tiny-vit", "--on", "cpu", "--runtime", "onnxruntime", "--workload", "fault-none", "--quick")
    assert dyno(*work).returncode == 0
    store = ("--store", str(tmp_path / "elsewhere.duckdb"))
    assert dyno(*work, "--output", "out.ndjson", *store).returncode == 0
    first, again = dyno("db", "import", "out.ndjson", "--json"), dyno("db", "import", "out.ndjson", "--json")
    (imported,), (known,) = json.loads(first.stdout)["files"], json.loads(again.stdout)["files"]
    assert (imported["format"], imported["counts"]["records"], imported["known"]) == ("modeldyno", 1, False)
    assert (known["counts"], known["known"]) == ({}, True)
    assert len(json.loads(dyno("show", "all", "--json").stdout)["records"]) == 2
