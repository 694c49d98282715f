"""The map of speed-ups over the baseline platform."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, findings, many, rows, section, texts
from world import a_record, a_run, records

from modeldyno.core.types import MetricValue, Passport, Provenance, Status, Verdict
from modeldyno.reports.charts.heat_map import text_on
from modeldyno.reports.document import Tone

MAP = "speed-map-latency_ms"
RELATIVE = "speed-map-best-latency_ms"


def test_nothing_and_one_record_have_nothing_to_compare(tmp_path: Path) -> None:
    assert section(tmp_path / "none", "speed-map") is None
    (tmp_path / "one").mkdir()
    assert section(tmp_path / "one", "speed-map", a_run(), a_record(a_run())) is None


def test_speed_ups_are_over_the_cpu(tmp_path: Path) -> None:
    made = section(tmp_path, "speed-map", a_run(), *records(a_run(), ["alpha"], ("cpu", "cuda", "webnn"), (1,)))
    assert made
    cells = texts(made, MAP)
    assert cells == {("alpha", "cpu"): "1x", ("alpha", "cuda"): "12x", ("alpha", "webnn"): "0.8x"}
    assert "The largest speed-up over cpu is 12 times, for alpha on cuda" in findings(made)
    assert "95 % interval" in findings(made)
    assert made.findings[0].tone is Tone.GOOD


def test_a_rate_is_the_better_the_larger(tmp_path: Path) -> None:
    items = (a_run(), *records(a_run(), ["alpha"], ("cpu", "cuda"), (1,)))
    made = section(tmp_path, "speed-map", *items, metric="throughput_per_s")
    assert made
    assert texts(made, "speed-map-throughput_per_s")["alpha", "cuda"] == "12x"


def test_batch_sizes_are_not_mixed(tmp_path: Path) -> None:
    slow = a_record(a_run(), "alpha", "cpu", case={"batch": 16})
    fast = [a_record(a_run(), "alpha", "cuda", case={"batch": batch}) for batch in (1, 16)]
    made = section(tmp_path, "speed-map", a_run(), slow, *fast)
    assert made
    assert texts(made, MAP)["alpha", "cuda"] == "12x"


def test_without_the_cpu_the_best_is_the_measure_and_it_is_said(tmp_path: Path) -> None:
    items = [a_record(a_run(), "alpha", platform) for platform in ("cuda", "mps")]
    made = section(tmp_path, "speed-map", a_run(), *items)
    assert made
    assert list(charts(made)) == [RELATIVE]
    assert texts(made, RELATIVE)["alpha", "mps"] == "0.333x"
    assert "not measured on cpu" in (charts(made)[RELATIVE].note or "")
    assert not made.findings


def test_no_gain_is_no_good_news(tmp_path: Path) -> None:
    items = [a_record(a_run(), "alpha", "cpu"), a_record(a_run(), "alpha", "webnn", scale=3.0)]
    made = section(tmp_path, "speed-map", a_run(), *items)
    assert made
    assert findings(made) == "No platform is better than cpu at latency."


def test_fifty_models_on_eight_platforms(tmp_path: Path) -> None:
    made = section(tmp_path, "speed-map", *many())
    assert made
    assert len(rows(charts(made)[MAP])) == 400


def test_missing_cells_are_there_as_such(tmp_path: Path) -> None:
    items = [a_record(a_run(), "alpha", name) for name in ("cpu", "cuda")]
    others = [a_record(a_run(), "beta", name) for name in ("cpu", "mps")]
    made = section(tmp_path, "speed-map", a_run(), *items, *others)
    assert made
    assert texts(made, MAP)["beta", "cuda"] == ""


def test_all_failed_or_without_the_metric(tmp_path: Path) -> None:
    failed = {"status": Status.FAILED, "reason": "out of memory", "metrics": {}, "samples": ()}
    items = [a_record(a_run(), "alpha", name, **failed) for name in ("cpu", "cuda")]
    untold = {"metrics": {"latency_ms": MetricValue(value=None, note="too few")}}
    items += [a_record(a_run(), "beta", name, **untold) for name in ("cpu", "cuda")]
    assert section(tmp_path, "speed-map", a_run(), *items) is None


def test_simulated_numbers_are_marked_and_no_finding(tmp_path: Path) -> None:
    made_up = a_record(a_run(), "alpha", "cuda", provenance=Provenance.SIMULATED)
    made = section(tmp_path, "speed-map", a_run(), a_record(a_run()), made_up, provenance="measured,simulated")
    assert made
    assert ("alpha", "cuda (simulated)") in texts(made, MAP)
    assert not made.findings


def test_hostile_names(tmp_path: Path) -> None:
    made = section(tmp_path, "speed-map", a_run(), *records(a_run(), HOSTILE, ("cpu", "cuda"), (1,)))
    assert made
    assert {row for row, _ in texts(made, MAP)} == set(HOSTILE)


def test_text_stands_out_from_its_fill() -> None:
    assert text_on("#000000") == "#FFFFFF"
    assert text_on("#FFFFFF") == text_on("#38BAFA") == "#111111"
    assert text_on("#1D612B") == "#FFFFFF"


def test_single_numbers_are_no_tie(tmp_path: Path) -> None:
    """Ten times as fast without an interval is not the same as no gain."""
    bare = [
        a_record(a_run(), "alpha", name, samples=(), metrics={"latency_ms": MetricValue(value=value)})
        for name, value in (("cpu", 10.0), ("cuda", 1.0))
    ]
    made = section(tmp_path, "speed-map", a_run(), *bare)
    assert made
    assert findings(made).endswith("of which no interval is known.")
    assert made.findings[0].tone is Tone.DOUBT


def test_a_gain_under_doubtful_conditions_is_in_doubt(tmp_path: Path) -> None:
    noisy = a_record(a_run(), "alpha", "cuda", passport=Passport(verdict=Verdict.AMBIGUOUS))
    made = section(tmp_path, "speed-map", a_run(), a_record(a_run()), noisy)
    assert made
    assert findings(made).endswith("; not both were measured under conditions that a passport calls valid.")
    assert made.findings[0].tone is Tone.DOUBT


def test_where_some_may_be_better_it_is_only_not_shown(tmp_path: Path) -> None:
    """The largest ratio is below one for certain, that of a wider interval may not be."""
    wide = {"samples": (), "metrics": {"latency_ms": MetricValue(value=14.3, low=7.0, high=25.0)}}
    items = [a_record(a_run()), a_record(a_run(), platform="webnn"), a_record(a_run(), platform="mps", **wide)]
    made = section(tmp_path, "speed-map", a_run(), *items)
    assert made
    assert findings(made) == "No platform is shown to be better than cpu at latency."
