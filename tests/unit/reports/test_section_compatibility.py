"""The matrix of what works where, and the table of what does not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from section_checks import HOSTILE, charts, column, findings, many, rows, section, tables, texts
from world import a_record, a_run

from modeldyno.core.types import Provenance, Record, Status
from modeldyno.reports.document import Note, Tone


def broken(model: str = "alpha", platform: str = "mps", status: Status = Status.FAILED, **case: Any) -> Record:
    told = {"status": status, "reason": "out of memory", "remedy": "use a smaller batch", "metrics": {}, "samples": ()}
    return a_record(a_run(), model, platform, case=case, **told)


def test_nothing_has_no_section(tmp_path: Path) -> None:
    assert section(tmp_path, "compatibility") is None


def test_one_record_is_one_cell(tmp_path: Path) -> None:
    made = section(tmp_path, "compatibility", a_run(), a_record(a_run()))
    assert made
    assert texts(made, "compatibility") == {("alpha", "cpu"): "ok"}
    assert not tables(made)
    assert findings(made) == "1 of 1 tried pairs of model and platform works."
    assert made.findings[0].tone is Tone.GOOD


def test_what_does_not_work_has_a_reason_a_remedy_and_another_way(tmp_path: Path) -> None:
    made = section(tmp_path, "compatibility", a_run(), a_record(a_run(), platform="cuda"), broken())
    assert made
    assert texts(made, "compatibility") == {("alpha", "cuda"): "ok", ("alpha", "mps"): "failed"}
    table = tables(made)["problems"]
    assert column(table, "reason_and_remedy") == ["out of memory; use a smaller batch"]
    assert column(table, "instead") == ["cuda torch fp32"]
    assert "Most trouble is on mps: 1 of 1 model failed or gave invalid results there." in findings(made)


def test_a_size_that_fails_makes_it_partly_and_a_star_says_so(tmp_path: Path) -> None:
    made = section(
        tmp_path, "compatibility", a_run(), a_record(a_run(), platform="cuda"), broken("alpha", "cuda", batch=64)
    )
    assert made
    assert texts(made, "compatibility") == {("alpha", "cuda"): "ok*"}
    assert "*" in (charts(made)["compatibility"].note or "")
    assert column(tables(made)["problems"], "status") == ["partly failed"]


def test_every_status_and_what_was_never_tried_have_words(tmp_path: Path) -> None:
    items = [broken("alpha", place, status) for place, status in zip(("cpu", "cuda", "mps"), Status, strict=False)]
    items += [broken("alpha", "qnn", Status.INVALID), a_record(a_run(), "beta", "cpu")]
    made = section(tmp_path, "compatibility", a_run(), *items)
    assert made
    words = texts(made, "compatibility")
    assert set(words.values()) == {"ok", "skipped", "failed", "invalid", "-"}
    assert words["beta", "qnn"] == "-"


def test_all_failed_and_all_skipped(tmp_path: Path) -> None:
    (tmp_path / "failed").mkdir()
    made = section(tmp_path / "failed", "compatibility", a_run(), broken(), broken("beta"))
    assert made and made.findings[0].tone is Tone.BAD
    assert findings(made) == "0 of 2 tried pairs of model and platform work."
    (tmp_path / "skipped").mkdir()
    made = section(tmp_path / "skipped", "compatibility", a_run(), broken("beta", status=Status.SKIPPED))
    assert made
    assert findings(made) == "Nothing ran: every pair of model and platform was skipped, see the reasons."


def test_fifty_models_on_eight_platforms(tmp_path: Path) -> None:
    made = section(tmp_path, "compatibility", *many(), *(broken(f"more-{number:02}") for number in range(20)))
    assert made
    assert len(rows(charts(made)["compatibility"])) == 400
    assert "The 50 of 70 models for which least works." in (charts(made)["compatibility"].note or "")
    assert len({row for row, _ in texts(made, "compatibility") if row.startswith("more")}) == 20


def test_simulated_outcomes_are_marked(tmp_path: Path) -> None:
    made_up = a_record(a_run(), provenance=Provenance.SIMULATED)
    made = section(tmp_path, "compatibility", a_run(), made_up, provenance="simulated")
    assert made
    assert [block.text for block in made.blocks if isinstance(block, Note)] == ["All of these outcomes are simulated."]


def test_hostile_names_and_reasons(tmp_path: Path) -> None:
    items = [broken(name).model_copy(update={"reason": name}) for name in HOSTILE]
    made = section(tmp_path, "compatibility", a_run(), *items)
    assert made
    assert sorted(column(tables(made)["problems"], "model")) == sorted(HOSTILE)


def test_invalid_is_bad_in_the_table_as_everywhere(tmp_path: Path) -> None:
    made = section(tmp_path, "compatibility", a_run(), broken(status=Status.INVALID))
    assert made
    (row,) = tables(made)["problems"].rows
    assert [cell.tone for cell in row.cells if cell.text == "invalid"] == [Tone.BAD]
