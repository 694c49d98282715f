"""Comparisons of which one side is no measurement are marked and win nothing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from section_checks import charts, column, findings, rows, section, tables
from test_sections_told import world_samples
from world import a_record, a_run, a_store, days

from modeldyno.core.types import Device, Provenance, Record
from modeldyno.reports.document import Note
from modeldyno.reports.material import Material
from modeldyno.reports.sections import SECTIONS, comparison
from modeldyno.reports.template import Part
from modeldyno.store.words import filter_of, real

CHART = "comparison-platform"


def timed(platform: str, latency: float, **changes: Any) -> Record:
    return a_record(a_run(), platform=platform, **world_samples(latency), **changes)


@pytest.mark.parametrize(
    ("changes", "mark"),
    [
        ({"provenance": Provenance.PREDICTED}, "predicted"),
        ({"device": Device(platform="cuda", index=0, name="Soft", emulated=True)}, "emulated"),
    ],
)
def test_what_is_no_measurement_wins_nothing(tmp_path: Path, changes: dict[str, Any], mark: str) -> None:
    items = (timed("cpu", 10.0), timed("mps", 5.0), timed("cuda", 1.0, **changes))
    made = section(tmp_path, "comparison", a_run(), *items, provenance="measured,predicted")
    assert made
    first, best = made.findings
    assert first.text == f"Of 1 comparison by platform: 1 faster; 1 more rests on {mark} numbers."
    assert best.text == "alpha · fp32 · batch 1 · seq 128: mps torch is 2x faster than cpu torch."
    assert [row.mark for row in tables(made)["comparison-by-platform"].rows if row.mark] == [mark]


def test_what_is_predicted_is_drawn_as_such(tmp_path: Path) -> None:
    dreamt = timed("cuda", 1.0, provenance=Provenance.PREDICTED)
    made = section(tmp_path, "comparison", a_run(), timed("cpu", 10.0), dreamt, provenance="measured,predicted")
    assert made
    drawn = {row["platform"]: row["name"] for row in rows(charts(made)[CHART]) if "name" in row}
    assert drawn["cuda (predicted)"].endswith("cuda torch (predicted)")


def test_a_made_up_baseline_is_marked_too(tmp_path: Path) -> None:
    dreamt = timed("cpu", 10.0, provenance=Provenance.PREDICTED)
    made = section(tmp_path, "comparison", a_run(), dreamt, timed("cuda", 1.0), provenance="measured,predicted")
    assert made
    assert findings(made) == "Nothing measured is compared; 1 comparison rests on predicted numbers."
    assert any(row.get("name", "").endswith("(baseline predicted)") for row in rows(charts(made)[CHART]))


def test_devices_of_one_platform_have_lines_of_their_own(tmp_path: Path) -> None:
    chips = [Device(platform="cuda", index=0, name=name) for name in ("Big", "Small")]
    twins = [timed("mps", 4.0, record_id=f"twin-{n}", case={"index": n}) for n in (0, 1)]
    made = section(
        tmp_path,
        "comparison",
        a_run(),
        timed("cpu", 10.0),
        *(timed("cuda", n + 1.0, device=chip, record_id=chip.name) for n, chip in enumerate(chips)),
        *twins,
    )
    assert made
    names = [row["name"].split(" · ")[-1] for row in rows(charts(made)[CHART]) if "name" in row]
    assert sorted(names) == ["cuda torch (Big)", "cuda torch (Small)", "mps torch", "mps torch (2)"]
    assert "cuda torch (Big) is 10x faster than cpu torch" in findings(made)
    assert len(column(tables(made)["comparison-by-platform"], "ratio")) == 4


def test_of_very_many_runs_the_newest_are_read_and_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(comparison, "MOST_SERIES", 2)
    store = a_store(tmp_path / "s.duckdb", *days(5))
    made = SECTIONS.get("comparison")(Material(store, real(filter_of({}))), Part(section="comparison", by="run"))
    assert made
    assert column(tables(made)["comparison-by-run"], "baseline") == ["run-0003"]
    assert any(isinstance(block, Note) and "newest 2 records" in block.text for block in made.blocks)
