"""Generation from the command line: real workers, real models, records with every metric they promise."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import median

import pytest

from modeldyno.core.metrics import METRICS
from modeldyno.runner.suite import read_suite

pytestmark = pytest.mark.slow
EXAMPLE = Path(__file__).parents[2] / "examples" / "generation.yaml"
QUICK = ("--workload", "generation", "--on", "cpu", "--quick")


def test_models_that_write_are_measured_and_others_are_skipped(dyno) -> None:
    arguments = ("--seq", "16", "--shape", "new_tokens=4", "--batch", "2", "--option", "threads=1")
    done = dyno("run", "tiny-opt", "tiny-whisper", "tiny-bert", *arguments, *QUICK, "--json")
    assert done.returncode == 0, done.stderr
    records = {record["case"]["model"]: record for record in json.loads(done.stdout)["records"]}
    assert records["tiny-bert"]["status"] == "skipped"
    assert records["tiny-bert"]["reason"] == "BertForMaskedLM makes no tokens"
    assert records["tiny-opt"]["case"]["shape"] == {"seq": 16, "new_tokens": 4}
    assert records["tiny-whisper"]["case"]["shape"] == {"new_tokens": 4}
    for name in ("tiny-opt", "tiny-whisper"):
        check_written(records[name])
    assert records["tiny-opt"]["metrics"]["prefill_tokens_per_s"]["value"] > 0
    shown = json.loads(dyno("show", "--workload", "generation", "--json").stdout)["records"]
    assert {r["record_id"]: r["metrics"] for r in shown} == {r["record_id"]: r["metrics"] for r in records.values()}


def check_written(record: dict) -> None:
    assert record["status"] == "ok", record["reason"]
    metrics, samples = record["metrics"], record["samples"][0]
    promised = "first_token_ms inter_token_ms tokens tokens_per_s decode_tokens_per_s kv_cache_mb load_ms first_ms"
    assert set(promised.split()) | {"cold_first_token_ms", "memory_peak_mb", "error_rel_l2"} <= set(metrics)
    assert set(metrics) <= set(METRICS)
    assert metrics["tokens"]["value"] == 8
    assert metrics["first_token_ms"]["value"] == pytest.approx(median(samples["parts"]["first_token_ms"]))
    assert metrics["inter_token_ms"]["value"] == pytest.approx(median(samples["parts"]["inter_token_ms"]))
    assert len(samples["parts"]["token_gap_ms"]) == 3 * len(samples["host_ms"]) * samples["steps_per_sample"]
    assert metrics["tokens_per_s"]["value"] == pytest.approx(8e3 / metrics["latency_ms"]["value"])
    assert metrics["first_ms"]["note"] is None, "a process of its own, so it was cold"
    assert record["check"]["passed"] and record["check"]["rel_l2"] < 1e-5
    assert "parts_add_up" in {check["name"] for check in record["passport"]["checks"]}


def test_only_the_first_shape_of_a_process_is_cold(dyno) -> None:
    arguments = ("--seq", "16", "--shape", "new_tokens=2,3", "--option", "threads=1")
    done = dyno("run", "tiny-opt", *arguments, *QUICK, "--json")
    notes = [record["metrics"]["cold_first_token_ms"]["note"] for record in json.loads(done.stdout)["records"]]
    assert notes == [None, "first of this shape; the process had run other shapes before"]


def test_bad_input(dyno, dyno_here) -> None:
    done = dyno_here("run", "tiny-opt", "--option", "cache=paged", *QUICK)
    assert done.returncode == 2
    assert "The option cache is not 'paged'; write dynamic or static." in done.stderr
    done = dyno_here("run", "tiny-opt", "--shape", "new_tokens=0", *QUICK)
    assert done.returncode == 2
    done = dyno("run", "tiny-opt", "--seq", "500", "--shape", "new_tokens=20", *QUICK, "--json")
    assert done.returncode == 1
    record = json.loads(done.stdout)["records"][0]
    assert record["status"] == "skipped"
    assert "500 tokens of prompt and 20 new ones are more than the 512 positions" in record["reason"]
    assert record["remedy"] == "ask for new_tokens of at most 12"


def test_the_example_says_what_it_means(dyno) -> None:
    cases = read_suite(EXAMPLE).cases()
    assert len(cases) == 20
    assert {case.workload for case in cases} == {"generation"}
    assert {case.shape["new_tokens"] for case in cases} == {8, 16, 32}
    done = dyno("run", str(EXAMPLE), "--dry-run")
    assert done.returncode == 0, done.stderr
