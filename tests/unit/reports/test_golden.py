"""A whole report, as it was when somebody last looked at it and found it good.

`DYNO_GOLDEN=write pytest tests/unit/reports/test_golden.py` writes the files anew; look at the difference."""

from __future__ import annotations

import json
import os
from datetime import UTC, datetime
from pathlib import Path

import pytest
from world import a_record, a_run, a_store, days, records

from modeldyno.reports.document import Document
from modeldyno.reports.formats import FORMATS
from modeldyno.reports.order import Order, compose

GOLDEN = Path(__file__).parent / "golden"
NOW = datetime(2026, 11, 15, 8, 30, tzinfo=UTC)


@pytest.fixture
def document(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Document:
    run = a_run(20)
    failed = a_record(
        run,
        "gamma",
        "cuda",
        status="failed",
        reason="out of memory",
        remedy="use a smaller batch",
        metrics={},
        samples=(),
    )
    slower = days(20, (12, 1.3), model="delta")
    items = [
        *slower,
        run,
        *records(run, ["alpha", "beta"], ("cpu", "cuda", "openvino")),
        a_record(run, "gamma"),
        failed,
    ]
    monkeypatch.chdir(tmp_path)
    store = a_store(Path("golden.duckdb"), *items)
    return compose(Order(kind="summary", formats=("md", "json")), store, NOW, lambda *_: None)


def as_expected(name: str, text: str) -> None:
    path = GOLDEN / name
    if os.environ.get("DYNO_GOLDEN") == "write":
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_markdown(document: Document) -> None:
    as_expected("summary.md", FORMATS.get("md").render(document, "summary")["summary.md"].decode())


def test_json(document: Document) -> None:
    """But for the drawings, whose words change with the version of altair; other tests look at those."""
    told = json.loads(FORMATS.get("json").render(document, "summary")["summary.json"])
    for section in told["sections"]:
        for block in section["blocks"]:
            if block["kind"] == "chart":
                block["spec"] = {"mark of Vega-Lite": block["spec"]["$schema"].split("/")[4]}
    as_expected("summary.json", json.dumps(told, indent=1, ensure_ascii=False) + "\n")
