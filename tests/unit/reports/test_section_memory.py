"""The section about memory."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from section_checks import HOSTILE, charts, findings, many, rows, section
from world import a_record, a_run

from modeldyno.core.types import MetricValue, Provenance, Record


def peak(megabytes: float, model: str = "alpha", platform: str = "cpu", number: int = 0, minute: float = 0) -> Record:
    run = a_run(number)
    moment = run.started_at + timedelta(minutes=minute)
    told = {"memory_peak_mb": MetricValue(value=megabytes)}
    return a_record(run, model, platform, metrics=told, started_at=moment)


def test_nothing_and_records_without_memory_have_no_section(tmp_path: Path) -> None:
    assert section(tmp_path / "a", "memory") is None
    assert section(tmp_path / "b", "memory", a_run(), a_record(a_run(), metrics={})) is None


def test_one_record_has_a_bar_and_no_course(tmp_path: Path) -> None:
    made = section(tmp_path, "memory", a_run(), peak(500))
    assert made
    assert list(charts(made)) == ["memory-peak"]
    assert findings(made) == "alpha seq 128 on cpu torch fp32 batch 1 needs most memory: 500 MB at its peak."


def test_the_course_is_that_of_the_newest_run_with_several_in_the_order_measured(tmp_path: Path) -> None:
    old = [peak(100, "a"), peak(100, "b", minute=1)]
    new = [peak(300, "c", number=1, minute=4), peak(200, "d", number=1, minute=2), peak(400, "e", number=1, minute=6)]
    alone = peak(100, "f", number=2)
    made = section(tmp_path, "memory", a_run(0), a_run(1), a_run(2), *old, *new, alone)
    assert made
    chart = charts(made)["memory-course"]
    assert [(row["since"], row["value"]) for row in rows(chart)] == [(2, 200), (4, 300), (6, 400)]
    assert "time since the run began (min)" in str(chart.spec)
    assert "run-0001" in (chart.note or "")
    assert "peak memory of one case, in the order they were measured" in (chart.note or "")


def test_records_of_one_moment_have_no_course(tmp_path: Path) -> None:
    made = section(tmp_path, "memory", a_run(), peak(100, "a"), peak(200, "b"))
    assert made
    assert "memory-course" not in charts(made)


def test_a_device_that_is_nearly_full_is_said_first(tmp_path: Path) -> None:
    made = section(tmp_path, "memory", a_run(), peak(15000, platform="cuda"), peak(100))
    assert made
    assert (
        made.findings[0].text
        == "alpha seq 128 on cuda torch fp32 batch 1 takes 92% of the device's 16384 MB of memory."
    )


def test_fifty_models_with_missing_memory(tmp_path: Path) -> None:
    run, *there = many()
    without = [r.model_copy(update={"metrics": {}}) for r in there[::7] if isinstance(r, Record)]
    made = section(tmp_path, "memory", run, *[r for place, r in enumerate(there) if place % 7], *without)
    assert made
    assert len({row["group"] for row in rows(charts(made)["memory-peak"])}) == 50


def test_a_long_course_is_sampled_with_both_ends(tmp_path: Path) -> None:
    made = section(tmp_path, "memory", a_run(), *[peak(100 + n, f"m{n}", minute=n) for n in range(600)])
    assert made
    chart = charts(made)["memory-course"]
    drawn = rows(chart)
    assert (len(drawn), drawn[0]["value"], drawn[-1]["value"]) == (500, 100, 699)
    assert "500 of 600 cases" in (chart.note or "")


def test_simulated_ones_are_marked_and_make_no_finding(tmp_path: Path) -> None:
    items = [peak(100 + n, f"m{n}", minute=n).model_copy(update={"provenance": Provenance.SIMULATED}) for n in range(3)]
    made = section(tmp_path, "memory", a_run(), *items, provenance="simulated")
    assert made
    assert {row["platform"] for chart in charts(made).values() for row in rows(chart)} == {"cpu (simulated)"}
    assert not made.findings


def test_names_stay_what_they_are(tmp_path: Path) -> None:
    made = section(tmp_path, "memory", a_run(), *[peak(100, name, minute=n) for n, name in enumerate(HOSTILE)])
    assert made
    assert {row["group"] for row in rows(charts(made)["memory-peak"])} == {f"{name} seq 128" for name in HOSTILE}


@pytest.mark.parametrize(
    ("note", "provenance"),
    [("resident memory of the worker; range over 3 processes", Provenance.MEASURED), (None, Provenance.IMPORTED)],
)
def test_what_is_not_of_the_device_is_no_share_of_its_memory(
    tmp_path: Path, note: str | None, provenance: Provenance
) -> None:
    value = MetricValue(value=230_000.0, note=note)
    large = peak(1, platform="cuda").model_copy(update={"metrics": {"memory_peak_mb": value}, "provenance": provenance})
    made = section(tmp_path, "memory", a_run(), large)
    assert made
    assert "of the device's" not in findings(made)
    assert "needs most memory" in findings(made)


def test_the_note_says_that_the_batch_size_is_not_the_choice(tmp_path: Path) -> None:
    made = section(tmp_path, "memory", a_run(), peak(500))
    assert made
    told = "For each platform the runtime and precision at the batch size most platforms have that needs least."
    assert (charts(made)["memory-peak"].note or "").startswith(told)


def test_a_simulated_bar_says_so_beside_it(tmp_path: Path) -> None:
    dreamt = peak(100, platform="cuda").model_copy(update={"provenance": Provenance.SIMULATED})
    made = section(tmp_path, "memory", a_run(), dreamt, peak(100), provenance="measured,simulated")
    assert made
    assert {row["label"] for row in rows(charts(made)["memory-peak"])} == {"torch fp32", "torch fp32 (simulated)"}
