"""What got slower or faster; nothing found is an answer as well."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, column, findings, many, section, tables
from world import a_record, a_run, days, wobble

from modeldyno.core.types import Device, MetricValue, Provenance, Status
from modeldyno.reports.document import Tone

NAME = "changes-latency_ms"


def test_nothing_is_said_in_a_sentence(tmp_path: Path) -> None:
    made = section(tmp_path, "changes")
    assert made
    assert findings(made) == "There is no series of latency to look at."


def test_one_record_is_too_few(tmp_path: Path) -> None:
    made = section(tmp_path, "changes", a_run(), a_record(a_run()))
    assert made
    assert "1 series, the longest of 1 point." in findings(made)


def test_a_regression_is_told_with_commit_and_date(tmp_path: Path) -> None:
    made = section(tmp_path, "changes", *days(30, (20, 1.12)))
    assert made
    commit = f"{20:040x}"[:10]
    told = (
        f"alpha on cpu (torch fp32 batch 1 seq 128) became 12 % slower at commit {commit} on 2026-03-21, and still is."
    )
    assert findings(made) == told
    assert made.findings[0].tone is Tone.BAD
    table = tables(made)[NAME]
    assert column(table, "before") == ["11 ms"]
    assert column(table, "after") == ["12.33 ms"]
    assert column(table, "run") == ["run-0019 to run-0020"]
    assert column(table, "ratio")[0].startswith("1.121 [1.11")
    assert float(column(table, "p_value")[0]) < 0.01


def test_alarms_stand_before_what_is_better_or_gone(tmp_path: Path) -> None:
    items = [*days(45, (20, 0.7), "better"), *days(45, (30, 1.1), "worse")]
    items += [a_record(a_run(day), "gone", scale=wobble(day) * (1.4 if 15 <= day < 30 else 1.0)) for day in range(45)]
    made = section(tmp_path, "changes", *items)
    assert made
    verdicts = column(tables(made)[NAME], "verdict")
    assert verdicts[0] == "slower"
    assert sorted(verdicts[1:]) == ["faster", "faster", "slower, gone since"]
    assert verdicts[-1] == "slower, gone since"
    assert len(made.findings) == 1


def test_only_three_alarms_are_told_the_largest_first(tmp_path: Path) -> None:
    items = [item for number in range(5) for item in days(20, (10, 1.2 + number / 10), f"model-{number}")]
    made = section(tmp_path, "changes", *items)
    assert made
    assert len(made.findings) == 3
    assert made.findings[0].text.startswith("model-4 on cpu (torch fp32 batch 1 seq 128) became 60 % slower")
    assert made.findings[0].text.endswith("2 more alarms are in the table.")
    assert "in the table" not in made.findings[2].text


def test_a_new_environment_is_the_cause_and_no_alarm(tmp_path: Path) -> None:
    items = days(12)
    for day in range(12, 24):
        items += [a_run(day), a_record(a_run(day), scale=1.3 * wobble(day), software={"torch": "3.0"})]
    made = section(tmp_path, "changes", *items)
    assert made
    assert column(tables(made)[NAME], "cause") == ["torch 2.13.0 -> 3.0"]
    assert column(tables(made)[NAME], "p_value") == ["-"]
    assert made.findings[0].text == "None of 1 series is shown to be worse than before in the same environment."
    assert "became 30 % slower with torch 2.13.0 -> 3.0" in findings(made)


def test_no_change_found_says_what_would_have_been_seen(tmp_path: Path) -> None:
    made = section(tmp_path, "changes", *days(30))
    assert made
    assert findings(made).startswith("No change of latency was found in 1 series; one of ")
    assert not tables(made)


def test_memory_is_more_not_slower(tmp_path: Path) -> None:
    items = days(20)
    for place, item in enumerate(items):
        if place % 2 and place > 20:
            items[place] = item.model_copy(update={"metrics": {"memory_peak_mb": MetricValue(value=300.0)}})
    made = section(tmp_path, "changes", *items, metric="memory_peak_mb")
    assert made
    assert "changed in peak memory:" in findings(made)
    assert "% more, worse, at commit" in findings(made)


def test_fifty_models_on_eight_platforms(tmp_path: Path) -> None:
    made = section(tmp_path, "changes", *many())
    assert made
    assert "1200 series, the longest of 1 point." in findings(made)


def test_failed_records_and_missing_values_are_no_series(tmp_path: Path) -> None:
    failed = {"status": Status.FAILED, "reason": "x", "metrics": {}, "samples": ()}
    made = section(tmp_path, "changes", *days(8, **failed))
    assert made
    assert findings(made) == "There is no series of latency to look at."


def test_simulated_series_are_marked(tmp_path: Path) -> None:
    items = days(20, (10, 1.5), provenance=Provenance.SIMULATED)
    made = section(tmp_path, "changes", *items, provenance="simulated")
    assert made
    assert [row.mark for row in tables(made)[NAME].rows] == ["simulated"]
    assert "seq 128, simulated)" in findings(made)


def test_hostile_names(tmp_path: Path) -> None:
    made = section(tmp_path, "changes", *(item for name in HOSTILE for item in days(12, (6, 1.5), name)))
    assert made
    told = column(tables(made)[NAME], "series")
    assert all(any(text.startswith(name) for text in told) for name in HOSTILE)


SOFT = Device(platform="qnn", index=0, name="Soft", emulated=True)


def test_an_alarm_of_an_emulator_is_marked_and_stands_behind_those_of_hardware(tmp_path: Path) -> None:
    items = [*days(20, (10, 1.8), "beta", device=SOFT), *days(20, (10, 1.2))]
    made = section(tmp_path, "changes", *items)
    assert made
    assert [row.mark for row in tables(made)[NAME].rows] == [None, "emulated"]
    assert [finding.tone for finding in made.findings] == [Tone.BAD, Tone.DOUBT]
    assert "seq 128, emulated)" in made.findings[1].text


def test_one_more_alarm_is_said_with_the_first(tmp_path: Path) -> None:
    items = [item for number in range(4) for item in days(20, (10, 1.2 + number / 10), f"model-{number}")]
    made = section(tmp_path, "changes", *items)
    assert made
    assert made.findings[0].text.endswith("1 more alarm is in the table.")
