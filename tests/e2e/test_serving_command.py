"""Serving from the command line: real workers, real load, the record says what LoadGen says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from conftest import Dyno
from modeldyno.runner.suite import read_suite

pytest.importorskip("mlperf_loadgen")
pytestmark = pytest.mark.slow

SERVE = ("run", "tiny-bert", "--workload", "serving", "--on", "cpu", "--seq", "8", "--option", "threads=1")
EXAMPLE = Path(__file__).parents[2] / "examples" / "serving.yaml"


def record(dyno: Dyno, *options: str) -> dict[str, Any]:
    done = dyno(*SERVE, "--quick", "--json", *options)
    (found,) = json.loads(done.stdout)["records"]
    return dict(found)


def test_the_record_of_a_search_says_what_loadgen_says(dyno: Dyno) -> None:
    found = record(dyno, "--batch", "2", "--slo", "p90=100ms", "--option", "duration=1")
    assert found["status"] == "ok", found["reason"]
    metrics = {name: metric["value"] for name, metric in found["metrics"].items()}
    assert metrics["late_share"] <= 0.1
    assert metrics["goodput_per_s"] == pytest.approx(metrics["throughput_per_s"] * (1 - metrics["late_share"]))
    assert 1 <= metrics["served_batch"] <= 2
    assert len(found["samples"][0]["parts"]["latency_ms"]) == metrics["queries"]
    assert metrics["memory_peak_mb"] and metrics["load_ms"] and metrics["latency_ms"]
    checks = {check["name"]: check for check in found["passport"]["checks"]}
    assert checks["loadgen"]["value"] == "VALID"
    assert re.fullmatch(r"\d+ tests, \d+ missed, lowered \d+ times", checks["search"]["value"])
    assert found["metrics"]["latency_ms"]["low"] is None
    assert "no interval" in found["metrics"]["latency_ms"]["note"]
    assert {"slo", "keeps_up", "client_lag", "queries", "foreign_load_per_core"} <= set(checks)
    for words, ours in (
        (r"Scheduled samples per second : ([\d.]+)", metrics["sustained_per_s"]),
        (r"Completed samples per second\s+: ([\d.]+)", metrics["throughput_per_s"]),
        (r"90.00 percentile latency \(ns\)\s+: (\d+)", metrics["latency_p90_ms"] * 1e6),
    ):
        said = re.search(words, found["log"])
        assert said, found["log"]
        assert float(said[1]) == pytest.approx(ours, rel=0.005)


def test_several_processes_give_the_median_of_their_figures_and_each_its_summary(dyno: Dyno) -> None:
    done = dyno(*SERVE, "--json", "--option", "rate=50", "--samples", "70", "--processes", "2")
    (found,) = json.loads(done.stdout)["records"]
    each = [samples["parts"]["latency_ms"] for samples in found["samples"]]
    assert [len(latencies) for latencies in each] == [70, 70]
    p90 = [sorted(latencies)[63] for latencies in each]
    metric = found["metrics"]["latency_p90_ms"]
    assert (metric["low"], metric["value"], metric["high"]) == pytest.approx((min(p90), sum(p90) / 2, max(p90)))
    assert found["metrics"]["latency_p95_ms"]["value"] is None
    assert found["log"].count("MLPerf Results Summary") == 2


def test_a_bound_that_cannot_be_kept_is_told_with_what_was_reached(dyno: Dyno) -> None:
    done = dyno(*SERVE, "--quick", "--slo", "p90=1us")
    assert done.returncode == 1
    assert "no rate keeps p90=0.001ms: of an idle server p90 is" in done.stderr
    assert "raise the bound" in " ".join(done.stdout.split())
    assert "MLPerf Results Summary" not in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--slo", "soon"), "The slo 'soon' cannot be read; write for example p99=100ms."),
        (("--slo", "p99=1s", "--option", "slo=p99=2s"), "--slo and --option slo=... say the same"),
        (("--slo", "p99=1s", "--option", "scenario=offline"), "slo is for scenario=server, not offline"),
        (("--option", "rate=-3"), "more than 0, not -3"),
        (("--option", "scenario=poisson"), "Unknown scenario 'poisson'"),
    ],
)
def test_wrong_options_are_told_before_anything_runs(dyno: Dyno, options: tuple[str, ...], words: str) -> None:
    done = dyno(*SERVE, *options)
    assert done.returncode == 2
    assert words in done.stderr


def test_the_example_has_every_scenario() -> None:
    cases = read_suite(EXAMPLE).cases()
    scenarios = {str(case.options.get("scenario", "server")) for case in cases}
    assert scenarios == {"single-stream", "multi-stream", "server", "offline"}
    assert {case.workload for case in cases} == {"serving"}
