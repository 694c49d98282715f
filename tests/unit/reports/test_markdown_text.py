"""Text from outside does no harm, judged by a Markdown parser that is not ours."""

from __future__ import annotations

from hypothesis import example, given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from modeldyno.reports.markdown import block, code, details, heading, one_line, row

PARSER = MarkdownIt("commonmark").enable("table")
NASTY = st.text(st.sampled_from("ab1 `|\\<>@#*_[]()!&;:/.-~'\"\n\r\t\u202e\u2028é"), max_size=40)
TEXT = st.one_of(st.text(max_size=40), NASTY)


def cells(text: str) -> list[list[tuple[bool, str]]]:
    """The cells of a table, each as pieces of text and whether they are code."""
    found = []
    for token in PARSER.parse(text):
        if token.type == "inline":
            inside, pieces = False, []
            for child in token.children or []:
                if child.type == "html_inline":
                    assert child.content in ("<code>", "</code>")
                    inside = child.content == "<code>"
                else:
                    assert child.type in ("text", "code_inline", "text_special"), child.type
                    pieces.append((inside or child.type == "code_inline", child.content))
            found.append(pieces)
    return found


@settings(deadline=None)
@given(TEXT, TEXT)
@example("a\\|b", "`")
@example("a\\", "\\")
@example("www.evil.test @everyone #1 ``x`|", "<script>alert(1)</script>\n\n# big")
def test_a_cell_shows_the_text_as_code_and_nothing_else(one: str, two: str) -> None:
    table = "\n".join([*heading(["a", "b", "c"]), row([code(one), "x", code(two)])])
    read = cells(table)
    assert len(read) == 6
    for text, pieces in ((one, read[3]), (two, read[5])):
        assert "".join(piece for _, piece in pieces) == (one_line(text) or "-")
        assert all(is_code for is_code, _ in pieces) or pieces == [(False, "-")]
    assert read[4] == [(False, "x")]


@settings(deadline=None)
@given(st.one_of(st.text(), NASTY))
@example("```")
@example("`````")
def test_a_block_is_one_block(text: str) -> None:
    fenced = [token for token in PARSER.parse(f"before\n\n{block(text)}\n\nafter") if token.type == "fence"]
    assert [token.content.strip() for token in fenced] == [one_line(text, 2000)]


@settings(deadline=None)
@given(st.text(st.characters(codec=None)), st.integers(1, 50))
def test_one_line_is_short_visible_and_can_be_sent(text: str, most: int) -> None:
    line = one_line(text, most)
    assert len(line) <= most
    assert line.isprintable()
    line.encode()


def test_details_without_content_are_left_out() -> None:
    assert details("rest", []) == []
    assert details("rest", [""]) == []
