"""Tables lose nothing, however narrow the terminal is."""

from __future__ import annotations

import io
from pathlib import Path

import pytest
from rich.console import Console

from modeldyno.cli import _print, _tables
from modeldyno.core.types import Record
from modeldyno.store.spool import read_spool

RESULTS = Path(__file__).parents[3] / "docs" / "results" / "h200-key-classes.ndjson"


@pytest.mark.parametrize("width", [70, 80, 100, 130, 169, 170, 180])
def test_every_part_of_a_record_can_be_read(width: int, monkeypatch: pytest.MonkeyPatch) -> None:
    record = next(item for item in read_spool(RESULTS).items if isinstance(item, Record))
    console = Console(width=width, file=io.StringIO(), record=True, markup=False, highlight=False)
    monkeypatch.setattr(_print, "_console", lambda: console)
    _print.print_table(_tables.record_table([record]))
    shown = console.export_text()
    letters = "".join(shown.split())
    for part in ("torch", "fp32", "cuda:0", "seq", "128", "4.427", "225.9", "500.5", "valid"):
        assert part in letters
    assert max(map(len, shown.splitlines())) <= width


def test_two_devices_of_one_platform_are_told_apart() -> None:
    record = next(item for item in read_spool(RESULTS).items if isinstance(item, Record))
    other = record.model_copy(update={"device": record.device.model_copy(update={"name": "NVIDIA L4"})})
    cells = [list(column.cells) for column in _tables.record_table([record, other]).columns]
    assert cells[1] == ["cuda:0 NVIDIA H200", "cuda:0 NVIDIA L4"]
    assert next(iter(_tables.record_table([record]).columns[1].cells)) == "cuda:0"
