"""The tables of all results."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, column, findings, many, section, tables
from world import a_record, a_run

from modeldyno.core.types import MetricValue, Provenance, Record, Status
from modeldyno.reports.document import Tone


def without(status: Status, model: str = "alpha", platform: str = "rocm", reason: str = "no device") -> Record:
    told = {"status": status, "reason": reason, "remedy": "install one", "metrics": {}, "samples": (), "device": None}
    return a_record(a_run(), model, platform, **told)


def test_nothing_has_no_section(tmp_path: Path) -> None:
    assert section(tmp_path, "results") is None


def test_one_record_is_one_row(tmp_path: Path) -> None:
    made = section(tmp_path, "results", a_run(), a_record(a_run()))
    assert made
    table = tables(made)["results"]
    assert column(table, "latency_ms") == ["11 ms ± 0.22"]
    assert column(table, "trust") == ["valid"]
    assert "workload" not in [each.key for each in table.columns]
    assert not made.findings


def test_the_workload_is_told_where_there_are_several(tmp_path: Path) -> None:
    made = section(tmp_path, "results", a_run(), a_record(a_run()), a_record(a_run(), case={"workload": "training"}))
    assert made
    assert column(tables(made)["results"], "workload") == ["inference", "training"]


def test_missing_metrics_say_why(tmp_path: Path) -> None:
    told = {"latency_ms": MetricValue(value=None, note="needs 662 samples, has 40")}
    made = section(tmp_path, "results", a_run(), a_record(a_run(), metrics=told))
    assert made
    assert column(tables(made)["results"], "latency_ms") == ["needs 662 samples, has 40"]
    assert column(tables(made)["results"], "memory_peak_mb") == ["-"]


def test_equal_reasons_stand_in_one_row_most_of_them_first(tmp_path: Path) -> None:
    problems = [
        without(Status.FAILED, "a", "cuda", "out of memory."),
        *(without(Status.SKIPPED, name) for name in ("b", "c", "d")),
    ]
    made = section(tmp_path, "results", a_run(), a_record(a_run()), *problems)
    assert made
    table = tables(made)["results-without"]
    assert column(table, "status") == ["skipped", "failed"]
    assert column(table, "cases") == ["3", "1"]
    assert column(table, "first_case")[0].endswith("and 2 more")
    assert column(table, "reason") == ["no device", "out of memory."]
    assert column(table, "remedy") == ["install one", "install one"]
    assert findings(made) == "4 of 5 cases have no result (1 failed, 3 skipped); most often: no device."
    assert made.findings[0].tone is Tone.BAD


def test_all_skipped_has_only_the_reasons(tmp_path: Path) -> None:
    made = section(tmp_path, "results", a_run(), without(Status.SKIPPED))
    assert made
    assert list(tables(made)) == ["results-without"]
    assert findings(made) == "1 of 1 case has no result (1 skipped); most often: no device."
    assert tables(made)["results-without"].rows[0].cells[0].tone is Tone.PLAIN


def test_fifty_models_are_cut_and_counted(tmp_path: Path) -> None:
    made = section(tmp_path, "results", *many())
    assert made
    table = tables(made)["results"]
    assert (len(table.head), len(table.rows)) == (100, 1200)


def test_simulated_ones_are_marked(tmp_path: Path) -> None:
    items = [a_record(a_run()), a_record(a_run(), platform="webnn", provenance=Provenance.SIMULATED)]
    made = section(tmp_path, "results", a_run(), *items, provenance="measured,simulated")
    assert made
    assert [row.mark for row in tables(made)["results"].rows] == [None, "simulated"]


def test_names_stay_what_they_are(tmp_path: Path) -> None:
    made = section(tmp_path, "results", a_run(), *(a_record(a_run(), name) for name in HOSTILE))
    assert made
    assert sorted(column(tables(made)["results"], "model")) == sorted(HOSTILE)
