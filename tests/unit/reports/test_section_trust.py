"""The section about passports."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from section_checks import column, findings, section, tables
from world import a_record, a_run

from modeldyno.core.types import Check, Device, Passport, Provenance, Record, Verdict
from modeldyno.reports.document import Tone


def checked(model: str, value: float, limit: float, **changes: Any) -> Record:
    doubt = Check(name="processes", value=value, limit=limit, verdict=Verdict.AMBIGUOUS)
    return a_record(a_run(), model, passport=Passport.of((doubt,)), **changes)


def imported(model: str) -> Record:
    return a_record(a_run(), model, provenance=Provenance.IMPORTED, passport=None)


def test_the_worst_lies_farthest_from_its_limit_on_either_side(tmp_path: Path) -> None:
    made = section(tmp_path / "few", "trust", a_run(), checked("a", 1, 5), checked("b", 4, 5))
    assert made
    assert column(tables(made)["concerns"], "worst") == ["1"]
    made = section(tmp_path / "much", "trust", a_run(), checked("a", 0.1, 0.05), checked("b", 0.3, 0.05))
    assert made
    assert column(tables(made)["concerns"], "worst") == ["0.3"]


def test_only_what_was_measured_is_told_as_measurements(tmp_path: Path) -> None:
    dreamt = checked("b", 1, 5, provenance=Provenance.SIMULATED)
    items = (a_record(a_run()), dreamt, imported("c"))
    made = section(tmp_path, "trust", a_run(), *items, provenance="measured,imported,simulated")
    assert made
    assert findings(made) == "Passports call the conditions of 1 of 1 measurement valid."
    assert made.findings[0].tone is Tone.GOOD
    verdicts = tables(made)["verdicts"]
    assert column(verdicts, "provenance") == ["imported", "measured", "simulated"]
    assert [row.mark for row in verdicts.rows] == [None, None, "simulated"]
    assert [row.mark for row in tables(made)["concerns"].rows] == ["simulated"]


def test_imports_alone_say_how_many_have_no_passport(tmp_path: Path) -> None:
    made = section(tmp_path, "trust", a_run(), imported("a"), imported("b"))
    assert made
    assert findings(made) == "2 of 2 imported records came without a passport."


def test_what_was_only_simulated_finds_nothing(tmp_path: Path) -> None:
    dreamt = a_record(a_run(), provenance=Provenance.SIMULATED)
    made = section(tmp_path, "trust", a_run(), dreamt, provenance="simulated")
    assert made
    assert not made.findings


def test_an_emulator_is_marked(tmp_path: Path) -> None:
    soft = Device(platform="qnn", index=0, name="Soft", emulated=True)
    made = section(tmp_path, "trust", a_run(), a_record(a_run(), platform="qnn", device=soft))
    assert made
    assert [row.mark for row in tables(made)["verdicts"].rows] == ["emulated"]
