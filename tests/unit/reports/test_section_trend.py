"""Series over time with their levels and changes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables
from world import SPEED, a_record, a_run, days, wobble

from modeldyno.core.types import Device, MetricValue, Provenance, Record, Run, Status
from modeldyno.reports.charts.timeline import MOST_POINTS
from modeldyno.reports.document import Tone

NAME, LEVELS = "trend-latency_ms", "levels-latency_ms"


def parts(made: Any, kind: str) -> list[dict[str, Any]]:
    return [row for row in rows(charts(made)[NAME]) if row["part"] == kind]


def test_nothing_and_one_record_are_no_trend(tmp_path: Path) -> None:
    assert section(tmp_path / "none", "trend") is None
    (tmp_path / "one").mkdir()
    assert section(tmp_path / "one", "trend", a_run(), a_record(a_run())) is None


def test_a_change_has_a_rule_with_ratio_and_commit_and_two_levels(tmp_path: Path) -> None:
    made = section(tmp_path, "trend", *days(30, (20, 1.2)))
    assert made
    (rule,) = parts(made, "worse")
    assert rule["text"].startswith("x1.2 0000000")
    assert rule["moment"].startswith("2026-03-21")
    assert [round(level["value"], 1) for level in parts(made, "level")] == [11.0, 13.2]
    assert len(parts(made, "point")) == 30
    assert findings(made) == "Latency is worse than it was in 1 of 1 series."
    assert made.findings[0].tone is Tone.BAD
    assert column(tables(made)[LEVELS], "last_change") == ["20 % slower, 2026-03-21"]


def test_a_new_environment_is_dashed_and_no_alarm(tmp_path: Path) -> None:
    items = days(12)
    for day in range(12, 24):
        run = a_run(day)
        items += [run, a_record(run, scale=1.3 * wobble(day), software={"torch": "3.0"})]
    made = section(tmp_path, "trend", *items)
    assert made
    assert [row["text"] for row in parts(made, "environment")] == ["torch 2.13.0 -> 3.0"]
    assert not parts(made, "worse")
    assert findings(made) == "Latency changed in 1 of 1 series, 1 became worse with a new environment."


def test_no_change_says_how_small_a_one_would_be_seen(tmp_path: Path) -> None:
    made = section(tmp_path, "trend", *days(30))
    assert made
    assert findings(made).startswith("No change of latency was found in 1 series; one of ")
    assert "%" in column(tables(made)[LEVELS], "smallest")[0]


def test_a_short_series_promises_nothing(tmp_path: Path) -> None:
    made = section(tmp_path, "trend", *days(3))
    assert made
    assert findings(made) == "No change of latency can be seen yet: 1 series, the longest of 3 points. It takes 6."
    assert column(tables(made)[LEVELS], "smallest") == ["-"]


def test_long_series_are_sampled_and_say_so(tmp_path: Path) -> None:
    made = section(tmp_path, "trend", *days(MOST_POINTS + 30))
    assert made
    assert len(parts(made, "point")) == MOST_POINTS
    assert "evenly chosen" in (charts(made)[NAME].note or "")


def test_of_many_series_alarms_come_first(tmp_path: Path) -> None:
    """50 models on 8 platforms, of which one became slower."""
    items: list[Run | Record] = []
    for day in range(6):
        run = a_run(day)
        items.append(run)
        for model in (f"model-{number:02}" for number in range(50)):
            items += [a_record(run, model, place, scale=wobble(day)) for place in SPEED]
    made = section(tmp_path, "trend", *items, *days(20, (10, 1.5), "zulu"))
    assert made
    assert "8 of 401 series" in (charts(made)[NAME].note or "")
    first = {row["series"] for row in rows(charts(made)[NAME]) if row["series"].startswith("1. ")}
    assert first == {"1. zulu\ncpu:0 torch fp32 batch 1 seq 128"}
    assert len(tables(made)[LEVELS].rows) == 401


def test_failed_records_and_missing_values_are_no_points(tmp_path: Path) -> None:
    failed = {"status": Status.FAILED, "reason": "x", "metrics": {}, "samples": ()}
    untold = {"metrics": {"latency_ms": MetricValue(value=None, note="too few")}}
    assert section(tmp_path, "trend", *days(8, model="alpha", **failed), *days(8, model="beta", **untold)) is None


def test_simulated_series_are_marked(tmp_path: Path) -> None:
    made = section(tmp_path, "trend", *days(8, provenance=Provenance.SIMULATED), provenance="simulated")
    assert made
    assert [row.mark for row in tables(made)[LEVELS].rows] == ["simulated"]
    assert {row["platform"] for row in rows(charts(made)[NAME])} == {"cpu (simulated)"}


def test_hostile_names(tmp_path: Path) -> None:
    items = [item for name in HOSTILE for item in days(8, (4, 1.5), name)]
    made = section(tmp_path, "trend", *items)
    assert made
    assert len({row["series"] for row in rows(charts(made)[NAME])}) == len(HOSTILE)


def test_one_point_of_each_of_many_series_is_none(tmp_path: Path) -> None:
    assert section(tmp_path, "trend", *many()) is None


def test_bounds_that_cannot_be_drawn_are_left_out(tmp_path: Path) -> None:
    wide = {"latency_ms": MetricValue(value=1.0, low=0.5, high=float("inf"))}
    made = section(tmp_path, "trend", *days(4, metrics=wide))
    assert made
    assert {(row["low"], row["high"]) for row in parts(made, "point")} == {(0.5, 1.0)}


def test_an_emulated_series_is_marked_and_no_bad_news(tmp_path: Path) -> None:
    soft = Device(platform="qnn", index=0, name="Soft", emulated=True)
    made = section(tmp_path, "trend", *days(20, (10, 1.5), device=soft))
    assert made
    assert [row.mark for row in tables(made)[LEVELS].rows] == ["emulated"]
    assert {row["platform"] for row in rows(charts(made)[NAME])} == {"cpu (emulated)"}
    assert findings(made) == "Latency is worse than it was in 1 of 1 series, 1 of them emulated."
    assert made.findings[0].tone is Tone.DOUBT


def test_the_words_name_the_first_day_of_all_series(tmp_path: Path) -> None:
    """The longest series comes first, another began earlier."""
    early = [item for day in (0, 1) for item in (a_run(day), a_record(a_run(day), "beta"))]
    late = [item for day in range(5, 9) for item in (a_run(day), a_record(a_run(day)))]
    made = section(tmp_path, "trend", *early, *late)
    assert made
    assert "2026-03-01 to 2026-03-09" in charts(made)[NAME].alt
