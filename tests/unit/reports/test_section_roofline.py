"""Records held against the peaks of their own devices."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import SPEED, a_record, a_run, peaks, records

from modeldyno.core.types import MetricValue, Provenance, Status
from modeldyno.reports.charts.roofline import MOST_POINTS


def test_nothing_and_records_without_peaks_have_no_section(tmp_path: Path) -> None:
    assert section(tmp_path / "none", "roofline") is None
    (tmp_path / "one").mkdir()
    assert section(tmp_path / "one", "roofline", a_run(), a_record(a_run())) is None


def test_peaks_without_records_have_no_section(tmp_path: Path) -> None:
    assert section(tmp_path, "roofline", a_run(), *peaks()) is None


def test_one_record_lies_below_the_roof_of_its_device(tmp_path: Path) -> None:
    made = section(tmp_path, "roofline", a_run(), a_record(a_run(), platform="cuda"), *peaks())
    assert made
    found = rows(charts(made)["roofline-1"])
    (spot,) = [row for row in found if "about" in row]
    roof = [row["gflops"] for row in found if "about" not in row]
    assert spot["label"] == "alpha"
    assert 0 < spot["gflops"] < max(roof) == 10_000.0
    assert min(roof) < 10_000.0
    assert len(tables(made)["bounds"].rows) == 1
    assert findings(made).startswith("What limits 1 record, by the peaks of their own devices: ")


def test_the_table_tells_bound_and_reason(tmp_path: Path) -> None:
    waits = a_record(a_run(), "alpha", "cuda")
    metrics = waits.metrics | {"launch_gap_ms": MetricValue(value=waits.metrics["latency_ms"].value)}
    made = section(tmp_path, "roofline", a_run(), waits.model_copy(update={"metrics": metrics}), *peaks())
    assert made
    assert column(tables(made)["bounds"], "bound") == ["launch"]
    assert column(tables(made)["bounds"], "because") == ["the device waits for the host in 100% of the step"]


def test_a_precision_without_a_peak_is_not_known(tmp_path: Path) -> None:
    made = section(
        tmp_path, "roofline", a_run(), a_record(a_run(), "alpha", "cuda", case={"precision": "bf16"}), *peaks()
    )
    assert made
    assert column(tables(made)["bounds"], "bound") == ["not known"]
    assert "no matrix rate in bf16 measured" in column(tables(made)["bounds"], "because")[0]


def test_fifty_models_on_eight_platforms(tmp_path: Path) -> None:
    made = section(tmp_path, "roofline", *many(), *(one for place in SPEED for one in peaks(place)))
    assert made
    assert list(charts(made)) == ["roofline-1", "roofline-2", "roofline-3"]
    assert all("The 3 of 8 devices with most records." in (chart.note or "") for chart in charts(made).values())
    assert len(tables(made)["bounds"].rows) == 1200


def test_very_many_points_are_sampled_and_say_so(tmp_path: Path) -> None:
    names = [f"model-{number:03}" for number in range(MOST_POINTS + 20)]
    made = section(tmp_path, "roofline", a_run(), *records(a_run(), names, ("cuda",), (1,)), *peaks())
    assert made
    found = rows(charts(made)["roofline-1"])
    assert sum("about" in row for row in found) == MOST_POINTS
    assert f"{MOST_POINTS} of {MOST_POINTS + 20} points, evenly chosen." in (charts(made)["roofline-1"].note or "")


def test_all_failed_and_missing_metrics(tmp_path: Path) -> None:
    failed = a_record(a_run(), "alpha", "cuda", status=Status.FAILED, reason="x", metrics={}, samples=())
    assert section(tmp_path, "roofline", a_run(), failed, *peaks()) is None
    (tmp_path / "uncounted").mkdir()
    uncounted = a_record(a_run(), "alpha", "cuda", metrics={"latency_ms": MetricValue(value=1.0)})
    made = section(tmp_path / "uncounted", "roofline", a_run(), uncounted, *peaks())
    assert made
    assert not charts(made)
    assert column(tables(made)["bounds"], "because") == ["its operations could not be counted"]


def test_simulated_records_are_marked_and_no_finding(tmp_path: Path) -> None:
    made_up = a_record(a_run(), "alpha", "cuda", provenance=Provenance.SIMULATED)
    made = section(tmp_path, "roofline", a_run(), made_up, *peaks(), provenance="measured,simulated")
    assert made
    assert [row.mark for row in tables(made)["bounds"].rows] == ["simulated"]
    assert "alpha (simulated)" in [row.get("name") for row in rows(charts(made)["roofline-1"])]
    assert not made.findings


def test_hostile_names(tmp_path: Path) -> None:
    made = section(tmp_path, "roofline", a_run(), *records(a_run(), HOSTILE, ("cuda",), (1,)), *peaks())
    assert made
    assert sorted(column(tables(made)["bounds"], "model")) == sorted(HOSTILE)
