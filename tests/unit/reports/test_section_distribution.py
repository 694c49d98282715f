"""The section about raw samples."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import a_record, a_run

from modeldyno.core.types import Provenance, Record, Samples, Stop
from modeldyno.reports.charts.boxes import box_of
from modeldyno.reports.document import Note


def sampled(samples: list[float], model: str = "alpha", platform: str = "cpu") -> Record:
    told = (Samples(host_ms=samples, stop=Stop.INTERVAL, steady=True),)
    return a_record(a_run(), model, platform, samples=told)


def test_a_box_is_made_of_quartiles_and_the_last_samples_within_reach() -> None:
    box = box_of("m", "n", "cpu", [*range(1, 10), 100.0, float("nan"), float("inf"), -1.0])
    assert box
    assert (box.n, box.q1, box.median, box.q3) == (10, 3.25, 5.5, 7.75)
    assert (box.low, box.high, box.beyond) == (1, 9, (100,))


def test_no_samples_give_no_box() -> None:
    assert box_of("m", "n", "cpu", [float("nan")]) is None


def test_nothing_and_records_without_samples_have_no_section(tmp_path: Path) -> None:
    assert section(tmp_path / "a", "distribution") is None
    assert section(tmp_path / "b", "distribution", a_run(), a_record(a_run(), samples=())) is None


def test_one_steady_record_is_called_so(tmp_path: Path) -> None:
    made = section(tmp_path, "distribution", a_run(), a_record(a_run()))
    assert made
    assert findings(made) == "The samples of 1 record show no drift, no groups and no far outliers."
    assert isinstance(made.blocks[1], Note)


def test_what_the_analysis_says_stands_in_the_table_the_widest_first(tmp_path: Path) -> None:
    drifting = sampled([10 + 0.1 * step for step in range(60)], "drifting")
    noisy = sampled([10.0 + 7 * (step % 2) + 0.01 * step for step in range(60)], "noisy")
    made = section(tmp_path, "distribution", a_run(), drifting, noisy, a_record(a_run(), "steady"))
    assert made
    table = tables(made)["samples-told"]
    assert column(table, "model") == ["noisy", "drifting"]
    assert "two groups" in column(table, "what_the_samples_tell")[0]
    assert "slower while sampling" in column(table, "what_the_samples_tell")[1]
    assert "2 of 3 records" in findings(made)
    assert "noisy on cpu torch fp32 batch 1 seq 128 is very noisy" in findings(made)


def test_many_outliers_are_sampled_with_both_ends(tmp_path: Path) -> None:
    samples = [10.0 + 0.001 * step for step in range(900)] + [20.0 + step for step in range(100)]
    made = section(tmp_path, "distribution", a_run(), sampled(samples))
    assert made
    chart = charts(made)["samples"]
    points = [row["value"] for row in rows(chart) if "value" in row]
    assert (len(points), min(points), max(points)) == (40, 20.0, 119.0)
    assert "At most 40 points" in (chart.note or "")


def test_fifty_models_show_the_24_that_spread_most(tmp_path: Path) -> None:
    wide = sampled([10.0 + step % 9 for step in range(60)], "wide")
    made = section(tmp_path, "distribution", *many(), wide)
    assert made
    chart = charts(made)["samples"]
    assert "The 24 of 1201 records whose samples spread most" in (chart.note or "")
    assert "wide" in {row["model"] for row in rows(chart)}


def test_times_far_apart_have_a_logarithmic_axis(tmp_path: Path) -> None:
    near = section(tmp_path / "a", "distribution", a_run(), sampled([9.0, 10.0, 11.0]))
    far = section(tmp_path / "b", "distribution", a_run(), sampled([1.0, 1.1]), sampled([90.0, 91.0], "beta"))
    assert near and far
    assert "'log'" not in str(charts(near)["samples"].spec)
    assert "'log'" in str(charts(far)["samples"].spec)


def test_simulated_ones_are_marked_and_make_no_finding(tmp_path: Path) -> None:
    record = sampled([1.0, 2.0] * 20).model_copy(update={"provenance": Provenance.SIMULATED})
    made = section(tmp_path, "distribution", a_run(), record, provenance="simulated")
    assert made
    assert rows(charts(made)["samples"])[0]["platform"] == "cpu (simulated)"
    assert not made.findings


def test_names_stay_what_they_are_and_equal_ones_apart(tmp_path: Path) -> None:
    twice = [a_record(a_run(), case={"index": index}, record_id=f"slot-{index}") for index in (0, 1)]
    made = section(tmp_path, "distribution", a_run(), *twice, *(a_record(a_run(), name) for name in HOSTILE))
    assert made
    drawn = rows(charts(made)["samples"])
    assert {row["model"] for row in drawn} == {"alpha", *HOSTILE}
    assert len({row["label"] for row in drawn}) == len(drawn) == 2 + len(HOSTILE)
