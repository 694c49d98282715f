"""The section that counts records: what is no measurement stands apart and is marked."""

from __future__ import annotations

from pathlib import Path

from section_checks import column, findings, section, tables
from world import a_record, a_run

from modeldyno.core.types import Device, Provenance, Status
from modeldyno.reports.document import Tone

ABSENT = {"device": None, "metrics": {}, "samples": (), "passport": None}


def test_measured_and_simulated_records_of_a_platform_have_rows_of_their_own(tmp_path: Path) -> None:
    dreamt = a_record(a_run(), "beta", provenance=Provenance.SIMULATED)
    made = section(tmp_path, "overview", a_run(), a_record(a_run()), dreamt, provenance="measured,simulated")
    assert made
    (table,) = tables(made).values()
    assert [row.mark for row in table.rows] == [None, "simulated"]
    assert column(table, "provenance") == ["measured", "simulated"]
    assert column(table, "ok") == ["1", "1"]
    assert "of 2 models on cpu, cpu (simulated):" in findings(made)


def test_where_all_was_measured_no_column_says_so(tmp_path: Path) -> None:
    made = section(tmp_path, "overview", a_run(), a_record(a_run()))
    assert made
    (table,) = tables(made).values()
    assert "provenance" not in [each.key for each in table.columns]
    assert findings(made) == "1 record of 1 model on cpu: 1 ok."


def test_an_emulator_is_marked(tmp_path: Path) -> None:
    soft = Device(platform="qnn", index=0, name="Soft", emulated=True)
    made = section(tmp_path, "overview", a_run(), a_record(a_run(), platform="qnn", device=soft))
    assert made
    (table,) = tables(made).values()
    assert [row.mark for row in table.rows] == ["emulated"]
    assert "on qnn (emulated)" in findings(made)


def test_without_a_device_the_one_that_was_asked_for_is_told(tmp_path: Path) -> None:
    second = {"index": 1}
    failed = a_record(a_run(), platform="cuda", case=second, status=Status.FAILED, reason="out of memory", **ABSENT)
    skipped = a_record(a_run(), platform="qnn", status=Status.SKIPPED, reason="no device", **ABSENT)
    imported = a_record(a_run(), provenance=Provenance.IMPORTED, **ABSENT)
    made = section(tmp_path, "overview", a_run(), failed, skipped, imported)
    assert made
    (table,) = tables(made).values()
    assert column(table, "device") == ["not known", "cuda:1, as asked", "qnn:0, as asked"]


def test_skipped_is_plain_and_invalid_is_bad(tmp_path: Path) -> None:
    ended = [a_record(a_run(), status.value, status=status, reason="x") for status in Status]
    made = section(tmp_path, "overview", a_run(), *ended)
    assert made
    (table,) = tables(made).values()
    tones = {each.key: cell.tone for each, cell in zip(table.columns, table.rows[0].cells, strict=True)}
    assert [tones[status.value] for status in Status] == [Tone.GOOD, Tone.PLAIN, Tone.BAD, Tone.BAD]
