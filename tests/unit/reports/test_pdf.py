"""The PDF format, read back with a library that did not make it."""

from __future__ import annotations

import base64
import io
from pathlib import Path
from typing import Any

import pytest
from documents import HOSTILE, a_chart, a_document, a_row, a_section, a_table, hostile_document
from pypdf import PdfReader
from pypdf.generic import DictionaryObject
from world import NOON, a_run, a_store, records

from modeldyno.core.errors import JobError
from modeldyno.reports.document import Cell, Code, Column, Document, Finding, Logo, Note, Paragraph, Row, Section, Table
from modeldyno.reports.formats import FORMATS
from modeldyno.reports.order import Order, compose

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


def rendered(document: Document) -> PdfReader:
    return PdfReader(io.BytesIO(FORMATS.get("pdf").render(document, "report")["report.pdf"]))


def text_of(reader: PdfReader) -> str:
    return "\n".join(page.extract_text() for page in reader.pages)


def together(text: str) -> str:
    """Without the breaks of lines and words."""
    return "".join(text.split())


def a_wide_table(columns: int, rows: int, text: str = "some words here") -> Table:
    head = tuple(Column(name=f"column {number}", key=f"c{number}") for number in range(columns))
    body = tuple(Row(cells=tuple(Cell(text=text) for _ in head)) for _ in range(rows))
    return a_table(*body, columns=head)


def is_turned(page: Any) -> bool:
    return bool(page.mediabox.width > page.mediabox.height)


def test_it_has_all_that_the_document_says() -> None:
    text = text_of(rendered(a_document(intro="Why we look.\n\nAnd more.")))
    for told in (
        "Performance",
        "Made on 2026-03-02 09:30 UTC with modeldyno 0.1.0.",
        "3 records from 2026-03-01 to 2026-03-02: 2 measured, 1 simulated. Chosen: on cpu,cuda.",
        "Why we look.",
        "alpha is 2.0 times as fast on cuda.",
        "Less is better.",
        "Figure 1. Latency by model",
        "latency (ms)",
        "Newest only.",
        "Table 1. How fast. 2 of 3 rows.",
        "12.4 ms ± 0.2",
        "simulated",
        "One row was left out.",
        "dyno compare --by platform",
        "How to reproduce this",
        "dyno run suite.yaml",
        "1 / 1",
    ):
        assert told in text


def test_the_same_document_gives_the_same_bytes_and_tells_no_date_but_its_own() -> None:
    render = FORMATS.get("pdf").render
    assert render(a_document(), "r") == render(a_document(), "r")
    metadata = rendered(a_document()).metadata or {}
    assert metadata["/Title"] == "Performance"
    assert not {"/CreationDate", "/ModDate"} & set(metadata)


def test_all_fonts_are_embedded() -> None:
    fonts = [found for page in rendered(hostile_document()).pages for found in fonts_of(page["/Resources"])]
    assert fonts
    assert all(is_embedded(font) for font in fonts)


def fonts_of(resources: Any) -> list[DictionaryObject]:
    """Those of a page and of the charts on it."""
    resources = resources.get_object()
    found = [font.get_object() for font in resources.get("/Font", {}).values()]
    for picture in resources.get("/XObject", {}).values():
        if "/Resources" in picture.get_object():
            found += fonts_of(picture.get_object()["/Resources"])
    return found


def is_embedded(font: Any) -> bool:
    inner = font["/DescendantFonts"][0].get_object() if "/DescendantFonts" in font else font
    return bool({"/FontFile", "/FontFile2", "/FontFile3"} & set(inner["/FontDescriptor"].get_object()))


def test_hostile_text_is_only_text() -> None:
    """What typst would evaluate stands on the page letter by letter; letters that no embedded font has cannot."""
    seen = together(text_of(rendered(hostile_document())))
    spoken = [text for text in HOSTILE if text.isascii() and text.isprintable()]
    assert [text for text in spoken if together(text) not in seen] == []
    assert "עברית" in seen


@pytest.mark.parametrize("text", ["N" * 200, "org/" + "very-long_name." * 12, "x" * 60, "internationalization-" * 4])
@pytest.mark.parametrize("columns", [2, 8, 12])
def test_long_words_stay_in_their_cell(text: str, columns: int) -> None:
    """A letter is at least 2.2 points wide in the smallest type, so this many fit into a column."""
    reader = rendered(a_document(Section(name="s", title="S", blocks=(a_wide_table(columns, 2, text),))))
    widest = max(float(page.mediabox.width) for page in reader.pages)
    assert longest_word(reader) <= widest / columns / 2.2
    assert together(text_of(reader)).count(together(text[:8])) >= 2 * columns


def test_long_words_stay_on_the_page() -> None:
    """In the smallest type of all a hundred of these letters fill a line."""
    word = "N" * 200
    blocks = (Paragraph(text=word), Note(text=word), Code(lines=(word,)), a_table(a_row(word), caption=word))
    section = Section(name="s", title=word, blocks=(*blocks, a_chart(title=word, note=word)))
    frame = {"title": word, "intro": word, "findings": (Finding(text=word),), "reproduce": (word,)}
    reader = rendered(a_document(section, **frame))
    assert longest_word(reader) <= 100
    assert together(text_of(reader)).count(word[:40]) >= 10


def longest_word(reader: PdfReader) -> int:
    return max(len(word) for word in text_of(reader).split())


def test_a_long_table_repeats_its_head_on_each_page() -> None:
    table = a_table(*(a_row(f"model {number}") for number in range(120)))
    pages = [page.extract_text() for page in rendered(a_document(Section(name="s", title="S", blocks=(table,)))).pages]
    with_rows = [text for text in pages if "12.4 ms" in text]
    assert len(with_rows) > 1
    assert all(text.count("latency") == 1 for text in with_rows)


def test_a_wide_table_lies_on_a_turned_page_with_the_words_around_it() -> None:
    words = (Paragraph(text="Words before."), a_wide_table(9, 20), Note(text="Words after."))
    pages = rendered(a_document(Section(name="s", title="S", blocks=(a_chart(), *words, a_chart("more"))))).pages
    assert [is_turned(page) for page in pages] == [False, True, False]
    for told in ("Words before.", "column 8", "Words after."):
        assert [told in page.extract_text() for page in pages] == [False, True, False]


@pytest.mark.parametrize(
    "table", [a_wide_table(8, 20), a_wide_table(10, 20, "-"), a_wide_table(10, 3), a_wide_table(2, 40, "x" * 90)]
)
def test_little_stays_upright(table: Table) -> None:
    pages = rendered(a_document(Section(name="s", title="S", blocks=(table,)))).pages
    assert not any(is_turned(page) for page in pages)


@pytest.mark.parametrize(("sections", "there"), [(3, False), (4, True)])
def test_contents_where_there_are_many_sections(sections: int, there: bool) -> None:
    many = (a_section(f"Part {number}", name=f"s{number}", blocks=()) for number in range(sections))
    reader = rendered(a_document(*many))
    assert ("Contents" in text_of(reader)) == there
    assert [entry["/Title"] for entry in reader.outline][-2:] == [f"Part {sections - 1}", "How to reproduce this"]


def test_a_tall_chart_fits_on_a_page() -> None:
    tall = a_chart(models=tuple(f"model {number}" for number in range(150)))
    reader = rendered(a_document(Section(name="s", title="S", blocks=(tall,))))
    (page,) = [page for page in reader.pages if "model 149" in page.extract_text()]
    assert "Figure 1." in page.extract_text()
    assert "Newest only." in page.extract_text()
    assert "/ 2" in page.extract_text()


def test_little_is_enough() -> None:
    empty = (Paragraph(text=""), Note(text=" "), Code(lines=()), a_table(), a_table(columns=(), name="none"))
    told = a_document(Section(name="s", title="", blocks=empty), findings=(), title="", reproduce=())
    assert "Nothing stands out." in text_of(rendered(told))
    assert len(rendered(a_document(a_section(blocks=()), findings=(Finding(text="x"),))).pages) == 1


@pytest.mark.parametrize(
    ("media_type", "content"),
    [
        ("image/png", PIXEL),
        (
            "image/svg+xml",
            base64.b64encode(b'<svg xmlns="http://www.w3.org/2000/svg" width="900" height="9"/>').decode(),
        ),
    ],
)
def test_a_logo_stands_at_the_top(media_type: Any, content: str) -> None:
    logo = Logo(media_type=media_type, base64=content, alt="us")
    assert "Performance" in text_of(rendered(a_document(logo=logo)))


def test_what_typst_cannot_set_is_a_sentence() -> None:
    logo = Logo(media_type="image/png", base64="AAAA", alt="us")
    with pytest.raises(JobError, match=r"^typst cannot set the report \(.*\); use --format html instead\.$"):
        rendered(a_document(logo=logo))


def test_a_report_from_a_store(tmp_path: Path) -> None:
    template = tmp_path / "mine.yaml"
    template.write_text("title: Mine\nsections: [speed]")
    run = a_run()
    store = a_store(tmp_path / "s.duckdb", run, *records(run, ["alpha", '#import "x"']))
    text = text_of(rendered(compose(Order(kind=str(template)), store, NOON, lambda *_: None)))
    assert "12 records of 2026-03-01: 12 measured." in text
    assert '#import "x"' in text
