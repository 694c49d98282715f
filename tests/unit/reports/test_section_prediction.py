"""The section that tells how well prediction does."""

from __future__ import annotations

from pathlib import Path

from section_checks import column, findings, many, section, tables
from world import a_record, a_run

from modeldyno.reports.document import Tone


def test_it_learns_and_tells_what_to_measure_next(tmp_path: Path) -> None:
    run, *records = many()
    gone = records.pop(4)
    made = section(tmp_path, "prediction", run, *records)
    assert made
    assert f"Learned from {len(records)} results." in findings(made)
    found = tables(made)
    assert column(found["measure-next"], "model") == [gone.case.model]  # type: ignore[union-attr]
    assert "pair unseen" in column(found["prediction-quality"], "distance")


def test_with_too_few_results_it_says_so(tmp_path: Path) -> None:
    made = section(tmp_path, "prediction", a_run(), a_record(a_run()))
    assert made and made.findings[0].tone is Tone.DOUBT
    assert "fewer than 8 results" in findings(made)


def test_an_empty_store_has_no_such_section(tmp_path: Path) -> None:
    assert section(tmp_path, "prediction", a_run()) is None
