"""The section about training against inference."""

from __future__ import annotations

from pathlib import Path

from section_checks import HOSTILE, charts, column, findings, rows, section, tables
from world import SPEED, a_record, a_run

from modeldyno.core.types import Provenance, Record


def both(model: str = "alpha", platform: str = "cpu", times: float = 3.0) -> tuple[Record, Record]:
    """A case measured both ways."""
    run = a_run()
    training = a_record(run, model, platform, scale=times, case={"workload": "training"})
    return a_record(run, model, platform), training


def test_nothing_or_one_way_only_has_no_section(tmp_path: Path) -> None:
    assert section(tmp_path / "a", "training") is None
    assert section(tmp_path / "b", "training", a_run(), both()[0]) is None
    assert section(tmp_path / "c", "training", a_run(), both()[1]) is None


def test_the_ratio_stands_with_its_interval(tmp_path: Path) -> None:
    made = section(tmp_path, "training", a_run(), *both(times=3.0))
    assert made
    row = rows(charts(made)["training"])[0]
    assert row["training"] / row["inference"] == 3.0
    (cell,) = [cell for cell in tables(made)["training"].rows[0].cells if cell.low is not None and cell.value == 3.0]
    assert cell.low is not None and cell.high is not None and cell.low < 3.0 < cell.high
    assert f"takes {cell.text} times as long as an inference step" in findings(made)


def test_the_cheapest_is_told_only_where_it_is_so_for_sure(tmp_path: Path) -> None:
    near = section(tmp_path / "a", "training", a_run(), *both("a", times=3.0), *both("b", times=3.01))
    far = section(tmp_path / "b", "training", a_run(), *both("a", times=2.0), *both("b", times=5.0))
    assert near and far
    assert len(near.findings) == 1
    assert [finding.text.split(" on ")[0] for finding in far.findings] == [
        "A training step of b",
        "A training step of a",
    ]


def test_records_without_latency_take_no_part(tmp_path: Path) -> None:
    inference, training = both()
    assert section(tmp_path, "training", a_run(), inference, training.model_copy(update={"metrics": {}})) is None


def test_fifty_models_show_forty_cases_and_say_so(tmp_path: Path) -> None:
    items = [record for n in range(50) for platform in SPEED for record in both(f"model-{n:02}", platform)]
    made = section(tmp_path, "training", a_run(), *items)
    assert made
    assert len(rows(charts(made)["training"])) == 40
    assert "40 of 400 cases" in (charts(made)["training"].note or "")
    assert (charts(made)["training"].note or "").endswith("the table has more.")
    assert len(tables(made)["training"].rows) == 400


def test_simulated_ones_are_marked_and_make_no_finding(tmp_path: Path) -> None:
    items = [record.model_copy(update={"provenance": Provenance.SIMULATED}) for record in both()]
    made = section(tmp_path, "training", a_run(), *items, provenance="simulated")
    assert made
    assert rows(charts(made)["training"])[0]["platform"] == "cpu (simulated)"
    assert tables(made)["training"].rows[0].mark == "simulated"
    assert not made.findings


def test_names_stay_what_they_are(tmp_path: Path) -> None:
    made = section(tmp_path, "training", a_run(), *[record for name in HOSTILE for record in both(name)])
    assert made
    assert {row["model"] for row in rows(charts(made)["training"])} == set(HOSTILE)
    assert sorted(column(tables(made)["training"], "model")) == sorted(HOSTILE)
