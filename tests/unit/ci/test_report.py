"""The report of a gate as a document."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from gate_reports import gate_report, slower, verdict
from modeldyno.ci.report import Ratio, read_report
from modeldyno.core.errors import InputError


def test_it_is_read_as_it_was_written(tmp_path: Path) -> None:
    report = gate_report(slower(device="Chip"), verdict("other"), baseline_commit="a" * 40, candidate_commit="b" * 40)
    file = tmp_path / "gate.json"
    file.write_text(json.dumps(report.model_dump(mode="json"), allow_nan=False))
    assert read_report(file) == report


@pytest.mark.parametrize(("verdict_name", "code"), [("ok", 0), ("regression", 1), ("undecided", 3)])
def test_exit_codes(verdict_name: str, code: int) -> None:
    assert gate_report(verdict=verdict_name).exit_code == code


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"schema_version": 2}, "schema_version: Input should be 1"),
        ({"duration_s": "NaN"}, "duration_s: Input should be"),
        ({"cases": [{}]}, "cases.0.case: Field required"),
        ({"surprise": 1}, "surprise: Extra inputs"),
        ({"started_at": "2026-11-15T00:00:00"}, "started_at: Input should have timezone"),
    ],
)
def test_another_document_is_refused_with_its_place(tmp_path: Path, change: dict[str, Any], words: str) -> None:
    file = tmp_path / "gate.json"
    file.write_text(json.dumps({**gate_report().model_dump(mode="json"), **change}))
    with pytest.raises(InputError) as caught:
        read_report(file)
    assert words in str(caught.value)
    assert str(caught.value).endswith("give a file that dyno gate --json wrote.")


@pytest.mark.parametrize("content", [b"", b"[]", b"\xff\xfe", b'{"kind": NaN}', b"{" * 10_000])
def test_no_report_at_all(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "gate.json"
    file.write_bytes(content)
    with pytest.raises(InputError, match="is no report of a gate"):
        read_report(file)
    with pytest.raises(InputError, match="Cannot read"):
        read_report(tmp_path)


def test_the_smallest_effect_needs_an_interval_that_says_something() -> None:
    assert verdict(ratio=1.0).smallest_effect == pytest.approx(1.02 * (1.01 / 0.99) ** 0.5 - 1)
    for low, high in ((None, 1.0), (0.0, 1.0), (-1.0, 1.0), (2.0, 1.0), (1e-300, 1e300)):
        assert verdict(ratio=1.0).model_copy(update={"ratio": Ratio(low=low, high=high)}).smallest_effect is None
