"""The zip of CSV files, read back with the standard library."""

from __future__ import annotations

import csv
import io
import zipfile
from pathlib import Path

import pytest
from documents import a_document, a_row, a_section, a_table, hostile_document
from hypothesis import given
from hypothesis import strategies as st
from world import NOON, a_run, a_store, records

from modeldyno.reports.document import Cell, Column, Document, Row, Section, Table
from modeldyno.reports.formats import FORMATS
from modeldyno.reports.order import Order, compose


def unpacked(document: Document) -> dict[str, str]:
    files = FORMATS.get("csv").render(document, "report")
    assert list(files) == ["report.zip"]
    with zipfile.ZipFile(io.BytesIO(files["report.zip"])) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name).decode() for name in archive.namelist()}


def rows(text: str) -> list[list[str]]:
    return list(csv.reader(io.StringIO(text, newline=""), strict=True))


def with_tables(*tables: Table) -> Document:
    return a_document(Section(name="s", title="S", blocks=tables))


def column(*cells: Cell) -> list[str]:
    """The cells as the file has them."""
    table = a_table(*(Row(cells=(cell,)) for cell in cells), columns=(Column(name="x", key="x"),))
    return [row[0] for row in rows(unpacked(with_tables(table))["speed.csv"])[1:]]


def test_a_table_has_keys_numbers_intervals_and_marks() -> None:
    files = unpacked(a_document())
    assert list(files) == ["README.txt", "findings.csv", "speed.csv"]
    assert files["speed.csv"] == (
        "model,latency_ms,latency_ms_low,latency_ms_high,mark\r\n"
        "alpha,12.4,12.200000000000001,12.6,\r\n"
        "beta,7.5,7.3,7.7,simulated\r\n"
        "not shown,12.4,12.200000000000001,12.6,\r\n"
    )
    assert files["findings.csv"] == (
        "tone,text\r\ngood,alpha is 2.0 times as fast on cuda.\r\ndoubt,beta cannot be told apart.\r\n"
    )


def test_the_readme_says_which_file_is_what() -> None:
    lines = unpacked(a_document())["README.txt"].splitlines()
    assert lines[0] == "Performance"
    assert "Made on 2026-03-02 09:30 UTC with modeldyno 0.1.0." in lines
    assert "speed.csv: How fast" in lines
    assert lines[-1] == "  dyno run suite.yaml"


@pytest.mark.parametrize("text", ["=1+1", "+x", "-x", "@SUM(A1)", "\t=1", "\r=1", " =1", "=cmd|' /C calc'!A0", "-5 ms"])
def test_a_formula_is_defused(text: str) -> None:
    assert column(Cell(text=text)) == [f"'{text}"]
    assert column(Cell(text="x", value=text)) == [f"'{text}"]


def test_numbers_and_other_values_stay_what_they_are() -> None:
    cells = (
        Cell(text="-5 ms", value=-5.0),
        Cell(text="-3"),
        Cell(text="yes", value=True),
        Cell(text="1 k", value=1000),
    )
    assert column(*cells) == ["-5.0", "-3", "true", "1000"]
    assert column(Cell(text="-"), Cell(text="")) == ["", ""]


@given(st.lists(st.text(st.characters(codec="utf-8"), max_size=20), min_size=1, max_size=4))
def test_any_text_comes_back(texts: list[str]) -> None:
    table = a_table(*(a_row(text) for text in texts))
    back = [row[0] for row in rows(unpacked(with_tables(table))["speed.csv"])[1:]]
    assert [told in (text, f"'{text}", "") for told, text in zip(back, texts, strict=True)] == [True] * len(texts)


def test_files_of_tables_have_names_of_their_own() -> None:
    names = ("findings", "../x", "x", "README")
    files = unpacked(with_tables(*(a_table(a_row(), name=name) for name in names)))
    assert list(files) == ["README.txt", "findings.csv", "findings-2.csv", "x.csv", "x-2.csv", "README.csv"]


def test_the_same_document_gives_the_same_bytes() -> None:
    render = FORMATS.get("csv").render
    assert render(hostile_document(), "r") == render(hostile_document(), "r")


def test_a_table_without_rows_has_its_head() -> None:
    assert unpacked(with_tables(a_table()))["speed.csv"] == "model,latency_ms\r\n"
    assert list(unpacked(a_document(a_section(blocks=()), findings=()))) == ["README.txt", "findings.csv"]


def test_a_report_from_a_store(tmp_path: Path) -> None:
    template = tmp_path / "mine.yaml"
    template.write_text("title: Mine\nsections: [speed]")
    run = a_run()
    store = a_store(tmp_path / "s.duckdb", run, *records(run, ["alpha", "=beta"]))
    files = unpacked(compose(Order(kind=str(template)), store, NOON, lambda *_: None))
    assert "12 records of 2026-03-01: 12 measured." in files["README.txt"]
    assert len(rows(files["findings.csv"])) > 1
