"""The section that tells how well prediction does."""

from __future__ import annotations

from pathlib import Path

from section_checks import column, findings, section, tables
from world import SPEED, a_record, a_run, records

from modeldyno.reports.document import Tone


def test_it_learns_and_tells_what_to_measure_next(tmp_path: Path) -> None:
    run = a_run()
    names = [f"model-{number:02}" for number in range(12)]
    known = [one for one in records(run, names, SPEED) if (one.case.model, one.case.platform) != ("model-03", "cpu")]
    made = section(tmp_path, "prediction", run, *known)
    assert made
    assert f"Learned from {len(known)} results." in findings(made)
    assert column(tables(made)["measure-next"], "model") == ["model-03"]
    assert "pair unseen" in column(tables(made)["prediction-quality"], "distance")


def test_with_too_few_results_it_says_so(tmp_path: Path) -> None:
    made = section(tmp_path, "prediction", a_run(), a_record(a_run()))
    assert made and made.findings[0].tone is Tone.DOUBT
    assert "fewer than 8 results" in findings(made)


def test_an_empty_store_has_no_such_section(tmp_path: Path) -> None:
    assert section(tmp_path, "prediction", a_run()) is None
