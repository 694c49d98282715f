"""The Markdown format, judged by a parser that is not ours."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from xml.etree import ElementTree

import pytest
from documents import HOSTILE, MADE_AT, a_chart, a_document, a_row, a_section, a_table, hostile_document
from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token
from world import NOON, a_run, a_store, records

from modeldyno.core.errors import JobError
from modeldyno.reports.document import Document, Finding, Logo, Note, Paragraph, Section
from modeldyno.reports.formats import FORMATS
from modeldyno.reports.markdown import cell, label, line, one_line
from modeldyno.reports.order import Order, compose

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
LINKED = re.compile(r"://|www\.|@\w|#\d|\$|:rocket:")
"""What GitHub looks for in words, and not in code."""
NASTY = st.text(st.sampled_from("ab1 `|\\<>@#*_[]()!&;:/.-+=~$'\"\n\r\t\u202e\u2028éש"), max_size=40)
TEXT = st.one_of(st.text(max_size=40), NASTY)


def page(document: Document, stem: str = "report") -> str:
    return FORMATS.get("md").render(document, stem)[f"{stem}.md"].decode()


def lines_of(document: Document) -> list[str]:
    return page(document).splitlines()


def shown(token: Token) -> str:
    """What a reader sees of a token that holds words and code only."""
    children = token.children or []
    kinds = {child.type for child in children}
    assert kinds <= {"text", "text_special", "code_inline"}, kinds
    assert not LINKED.search("".join(child.content if child.type != "code_inline" else " " for child in children))
    return "".join(child.content for child in children)


def inlines(text: str) -> Iterator[Token]:
    return (token for token in PARSER.parse(text) if token.type == "inline")


def examples(test: object) -> object:
    for text in HOSTILE:
        test = example(text)(test)  # type: ignore[arg-type]
    return test


@examples
@settings(deadline=None)
@given(TEXT)
def test_a_line_is_its_words_wherever_it_stands(text: str) -> None:
    told = one_line(text)
    for before, kinds in (
        ("", ()),
        ("# ", ("heading",)),
        ("- ", ("bullet_list", "list_item")),
        ("> ", ("blockquote",)),
    ):
        tokens = PARSER.parse(f"before\n\n{before}{line(text)}\n\n`after`")
        between = [token for token in tokens[3:-3] if token.type not in ("paragraph_open", "paragraph_close")]
        around = [f"{kind}_open" for kind in kinds] + ["inline"] * bool(told or before == "# ")
        assert [token.type for token in between][: len(around)] == around
        assert len(between) == 2 * len(kinds) + ("inline" in around)
        assert [shown(token) for token in between if token.type == "inline"] in ([told], [])


@examples
@settings(deadline=None)
@given(TEXT)
@example("a\\|@b")
@example("\\")
def test_a_cell_is_its_words(text: str) -> None:
    table = f"| a | b |\n|---|---|\n| {cell(text)} | x |\n| y | {cell(text)} |"
    assert [shown(token) for token in inlines(table)] == ["a", "b", one_line(text), "x", "y", one_line(text)]


@examples
@settings(deadline=None)
@given(TEXT)
@example("a [b")
@example("a] [b\\]")
def test_what_a_picture_shows_is_told_in_its_words(text: str) -> None:
    (token,) = inlines(f"![{label(text)}](x.svg)")
    assert [child.type for child in token.children or []] == ["image"]
    assert shown((token.children or [])[0]) == one_line(text)


@pytest.mark.parametrize("word", ["@octocat", "#12", "owner/name#3", "$x$", ":rocket:", "https://a.test", "a@b.test"])
def test_what_github_would_take_for_more_is_code(word: str) -> None:
    """A backslash does not stop what GitHub looks for after the Markdown is read."""
    (token,) = inlines(line(f"see {word} there"))
    assert [child.content for child in token.children or [] if child.type == "code_inline"] == [word]


@pytest.mark.parametrize(
    "plain",
    [
        "tiny_bert at 5 < 7 & 3 > 2 (see a-b, 12:30:45)",
        "-5 ms ± 0.2 + 3 = 100 % #",
        "facebook/opt-1.3b v1.2!",
        "a | b",
        "12 [11, 13] ms",
    ],
)
def test_plain_words_stay_readable_in_the_source(plain: str) -> None:
    assert line(plain).replace(r"\#", "#") == plain


def test_it_opens_with_title_date_scope_and_findings() -> None:
    assert lines_of(a_document(intro="Why we look."))[:12] == [
        "# Performance",
        "",
        "Made on 2026-03-02 09:30 UTC with modeldyno 0.1.0.",
        "",
        "3 records from 2026-03-01 to 2026-03-02: 2 measured, 1 simulated. Chosen: on cpu,cuda.",
        "",
        "Why we look.",
        "",
        "## Findings",
        "",
        "- ✅ alpha is 2.0 times as fast on cuda.",
        "- ⚠️ beta cannot be told apart.",
    ]


def test_only_one_line_tells_when_it_was_made() -> None:
    other = a_document(made_at=MADE_AT.replace(month=7))
    pairs = zip(lines_of(a_document()), lines_of(other), strict=True)
    assert len([one for one, two in pairs if one != two]) == 1


def test_a_section_has_its_blocks() -> None:
    text = page(a_document())
    assert text[text.index("## Latency") :] == (
        "## Latency\n\n"
        "Less is better.\n\n"
        "**Figure 1.** Latency by model\n\n"
        "![Bars of latency](report-charts/bars.svg)\n\n"
        "Newest only.\n\n"
        "**Table 1.** How fast. 2 of 3 rows.\n\n"
        "| model | latency |\n"
        "| --- | ---: |\n"
        "| alpha | 12.4 ms ± 0.2 |\n"
        "| beta *simulated* | 7.5 ms ± 0.2 |\n\n"
        "> ⚠️ One row was left out.\n\n"
        "```sh\ndyno show latest\ndyno compare --by platform\n```\n\n"
        "## How to reproduce this\n\n"
        "```sh\ndyno report performance --format md --output report\ndyno run suite.yaml\n```\n"
    )


def test_a_chart_is_a_picture_on_white_beside_the_page() -> None:
    files = FORMATS.get("md").render(a_document(), "my report")
    assert list(files) == ["my report.md", "my report-charts/bars.svg"]
    assert b"(my%20report-charts/bars.svg)" in files["my report.md"]
    picture = ElementTree.fromstring(files["my report-charts/bars.svg"])
    assert picture[0].attrib["fill"] == "white"
    assert "latency (ms)" in "".join(picture.itertext())


def test_names_of_files_stay_in_the_folder_and_apart() -> None:
    blocks = tuple(a_chart(name) for name in ("../../x", "x", "X", "/", "logo"))
    logo = Logo(media_type="image/png", base64="iVBORw0KGgo=", alt="us")
    files = FORMATS.get("md").render(a_document(Section(name="s", title="S", blocks=blocks), logo=logo), "r")
    assert len({name.lower() for name in files}) == 1 + len(blocks) + 1
    assert all(re.fullmatch(r"r\.md|r-logo\.png|r-charts/[\w-]+\.svg", name) for name in files)
    assert files["r.md"].startswith(b"![us](r-logo.png)\n\n# Performance\n")


def test_hostile_text_makes_no_markup() -> None:
    tokens = PARSER.parse(page(hostile_document()))
    inside = [child.type for token in tokens for child in token.children or []]
    assert set(inside) == {"text", "code_inline", "image", "strong_open", "strong_close", "em_open", "em_close"}
    counts = [inside.count(kind) for kind in ("strong_open", "em_open", "image")]
    assert counts == [2 * len(HOSTILE), len(HOSTILE), len(HOSTILE)]
    assert len([token for token in tokens if token.type == "heading_open"]) == 3 + len(HOSTILE)
    assert len([token for token in tokens if token.type == "table_open"]) == len(HOSTILE)
    assert not [token for token in tokens if token.type == "html_block"]


def test_the_same_document_gives_the_same_bytes() -> None:
    assert FORMATS.get("md").render(hostile_document(), "r") == FORMATS.get("md").render(hostile_document(), "r")


def test_little_is_enough() -> None:
    bare = a_document(Section(name="s", title="", blocks=(Paragraph(text=" "), Note(text=""))), findings=(), title="")
    assert page(bare).startswith("# performance\n")
    assert "Nothing stands out." in page(bare)
    one = a_document(Section(name="s", title="T", blocks=(a_table(),)), findings=(Finding(text="x"),), reproduce=())
    assert page(one).endswith("| model | latency |\n| --- | ---: |\n")


def test_a_chart_that_cannot_be_drawn_is_a_sentence() -> None:
    wrong = a_chart(spec={"mark": "bar", "data": {"url": "http://127.0.0.1:9/x.json"}})
    with pytest.raises(
        JobError, match=r"The chart bars cannot be drawn \(External data url not allowed.*; use --format json"
    ):
        page(a_document(Section(name="s", title="S", blocks=(wrong,))))


def test_a_report_from_a_store(tmp_path: Path) -> None:
    template = tmp_path / "mine.yaml"
    template.write_text("title: Mine\nsections: [speed]")
    run = a_run()
    store = a_store(tmp_path / "s.duckdb", run, *records(run, ["alpha", "beta|<b>"]))
    document = compose(Order(kind=str(template)), store, NOON, lambda *_: None)
    files = FORMATS.get("md").render(document, "performance")
    assert len(files) == 2
    assert "12 records of 2026-03-01: 12 measured." in files["performance.md"].decode()


def test_marked_rows_and_long_sections_count_on() -> None:
    two = a_document(a_section(), a_section("More", name="more", blocks=(a_chart("b"), a_table(a_row(), name="t"))))
    assert re.findall(r"\*\*(\w+ \d)", page(two)) == ["Figure 1", "Table 1", "Figure 2", "Table 2"]
