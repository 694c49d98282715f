"""The sections that tell what was run, what to use, how far to trust it, what differs, and where it ran."""

from __future__ import annotations

from pathlib import Path

import pytest
from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import a_record, a_run, a_store, days, probe, records

from modeldyno.core.types import Check, Host, MetricValue, Passport, Verdict
from modeldyno.reports.document import Tone
from modeldyno.reports.material import Material
from modeldyno.reports.sections import SECTIONS
from modeldyno.reports.template import Part
from modeldyno.store.words import filter_of, real

NAMES = ("overview", "what-to-use", "speed", "trust", "comparison", "environment")
FAILED = {"status": "failed", "reason": "it broke", "metrics": {}, "samples": (), "passport": None}


@pytest.mark.parametrize("name", NAMES)
def test_an_empty_store_has_none_of_them(tmp_path: Path, name: str) -> None:
    assert section(tmp_path, name) is None


@pytest.mark.parametrize("name", NAMES)
def test_fifty_models_on_eight_platforms(tmp_path: Path, name: str) -> None:
    made = section(tmp_path, name, *many())
    assert made is not None
    assert all(len(table.head) <= 100 for table in tables(made).values())


@pytest.mark.parametrize("name", NAMES)
def test_names_stay_what_they_are(tmp_path: Path, name: str) -> None:
    run = a_run(command="dyno run '<b>'")
    made = section(tmp_path, name, run, *records(run, HOSTILE))
    assert made is not None
    if name not in ("overview", "trust", "environment"):
        assert all(model in made.model_dump_json() or "\\n" in repr(model) for model in HOSTILE[:1])


def test_outcomes_are_counted_by_platform(tmp_path: Path) -> None:
    run = a_run()
    made = section(tmp_path, "overview", run, a_record(run), a_record(run, "beta", **FAILED), probe("copy"))
    assert made
    (table,) = tables(made).values()
    assert column(table, "platform") == ["cpu", "cuda"]
    assert (column(table, "ok"), column(table, "failed")) == (["1", "1"], ["1", "-"])
    assert "3 records of 2 models on cpu, cuda: 2 ok, 1 failed." in findings(made)


def test_that_nothing_succeeded_is_the_first_thing_said(tmp_path: Path) -> None:
    run = a_run()
    made = section(tmp_path, "overview", run, a_record(run, **FAILED))
    assert made
    assert made.findings[0].tone is Tone.BAD
    assert "none was ok" in findings(made)


def test_the_choice_names_the_winner_and_what_cannot_be_told_from_it(tmp_path: Path) -> None:
    run = a_run()
    close = a_record(run, platform="openvino", scale=1.4 * 1.005)
    made = section(tmp_path, "what-to-use", run, a_record(run), close, a_record(run, platform="webnn"))
    assert made
    (table,) = tables(made).values()
    assert column(table, "lowest_latency") == ["cpu, torch, fp32, batch 1 (or openvino, torch, fp32, batch 1)"]
    assert "openvino, torch, fp32, batch 1 is within error" in findings(made)


def test_precision_is_part_of_the_choice(tmp_path: Path) -> None:
    run = a_run()
    half = a_record(run, scale=0.5, case={"precision": "bf16"})
    made = section(tmp_path, "what-to-use", run, a_record(run), half)
    assert made
    assert column(tables(made)["what-to-use"], "lowest_latency") == ["cpu, torch, bf16, batch 1"]


def test_what_is_simulated_is_never_recommended(tmp_path: Path) -> None:
    run = a_run()
    dreamt = a_record(run, platform="cuda", provenance="simulated")
    words = {"provenance": "measured,simulated"}
    made = section(tmp_path, "what-to-use", run, a_record(run), dreamt, **words)
    assert made
    assert column(tables(made)["what-to-use"], "lowest_latency") == ["cpu, torch, fp32, batch 1"]


def test_bars_stand_for_the_best_of_each_platform_and_say_what_they_are(tmp_path: Path) -> None:
    run = a_run()
    dreamt = a_record(run, platform="cuda", provenance="simulated")
    slow = a_record(run, scale=2.0, case={"runtime": "onnxruntime"})
    made = section(tmp_path, "speed", run, a_record(run), slow, dreamt, provenance="measured,simulated")
    assert made
    bars = rows(charts(made)["speed-latency_ms"])
    assert [(bar["platform"], bar["label"]) for bar in bars] == [
        ("cuda (simulated)", "torch fp32 (simulated)"),
        ("cpu", "torch fp32"),
    ]


def test_who_wins_how_often_is_told_and_a_close_race_is_nobodys(tmp_path: Path) -> None:
    run = a_run()
    clear = [a_record(run, platform=platform) for platform in ("cpu", "cuda")]
    close = [a_record(run, "beta"), a_record(run, "beta", "openvino", scale=1.4)]
    made = section(tmp_path, "speed", run, *clear, *close)
    assert made
    assert "on cuda for 1; for 1 it is too close to call." in findings(made)


def test_one_winner_of_all_is_said_so(tmp_path: Path) -> None:
    run = a_run()
    made = section(tmp_path, "speed", run, *records(run, ["alpha", "beta"]))
    assert made
    assert "cuda has the best latency for all 2 models" in findings(made)


def test_what_speaks_against_numbers_is_counted_with_what_to_do(tmp_path: Path) -> None:
    run = a_run()
    doubt = Check(name="steal_share", value=0.2, limit=0.01, verdict=Verdict.AMBIGUOUS, advice="use a host of your own")
    noisy = [a_record(run, name, passport=Passport.of((doubt,))) for name in ("beta", "gamma")]
    made = section(tmp_path, "trust", run, a_record(run), *noisy)
    assert made
    table = tables(made)["concerns"]
    assert [column(table, key) for key in ("check", "records", "advice")] == [
        ["steal share"],
        ["2"],
        ["use a host of your own"],
    ]
    assert "1 of 3 measurements" in findings(made)


def test_a_comparison_has_ratio_interval_and_verdict(tmp_path: Path) -> None:
    run = a_run()
    samples = [world_samples(value) for value in (10.0, 5.0)]
    slow, fast = (a_record(run, platform=p, **s) for p, s in zip(("cpu", "cuda"), samples, strict=True))
    made = section(tmp_path, "comparison", run, slow, fast)
    assert made
    table = tables(made)["comparison-by-platform"]
    assert column(table, "verdict") == ["2x faster"]
    (ratio,) = [row.cells[5] for row in table.rows]
    assert ratio.value == pytest.approx(0.5)
    assert ratio.low is not None and ratio.high is not None and ratio.low < 0.5 < ratio.high


def world_samples(latency: float) -> dict[str, object]:
    """Three processes that agree closely."""
    groups = tuple(
        {
            "process": n,
            "host_ms": [latency * (1 + 0.0002 * (n + k % 5)) for k in range(30)],
            "stop": "interval",
            "steady": True,
        }
        for n in range(3)
    )
    value = MetricValue(value=latency, low=latency * 0.999, high=latency * 1.001, n=90)
    return {"samples": groups, "metrics": {"latency_ms": value}}


def test_what_cannot_be_compared_says_why(tmp_path: Path) -> None:
    run = a_run()
    other = a_record(run, platform="cuda")
    weights = other.model.model_copy(update={"weights": "pretrained", "fingerprint": "other"}) if other.model else None
    made = section(tmp_path, "comparison", run, a_record(run), other.model_copy(update={"model": weights}))
    assert made
    assert any("weights" in text for text in column(tables(made)["labels-by-platform"], "label"))


def test_runs_are_compared_with_each_other(tmp_path: Path) -> None:
    store = a_store(tmp_path / "s.duckdb", *days(2, (1, 1.5)))
    part = Part(section="comparison", by="run")
    made = SECTIONS.get("comparison")(Material(store, real(filter_of({}))), part)
    assert made
    assert column(tables(made)["comparison-by-run"], "baseline") == ["run-0000"]


def test_the_environment_names_hosts_and_versions(tmp_path: Path) -> None:
    run = a_run(host=Host(host_id="h9", hostname="ada", cpu="Big CPU", logical_cores=64, memory_mb=262144))
    made = section(tmp_path, "environment", run, a_record(run, software={"torch": "2.13.0", "numpy": "2.4"}))
    assert made
    assert column(tables(made)["runs"], "host") == ["ada"]
    assert column(tables(made)["runs"], "processor") == ["Big CPU, 64 cores"]
    assert column(tables(made)["runs"], "memory_gib") == ["256"]
    assert column(tables(made)["software"], "package") == ["numpy", "torch"]
