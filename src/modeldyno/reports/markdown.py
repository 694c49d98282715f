"""Text from outside as GitHub's Markdown: shown as it is, and never taken for markup, a link or a mention."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence

MOST = 200
"""Characters of one text from outside."""
LONGEST = 20_000
"""Of a paragraph."""
_SPECIAL = re.compile(f"[{re.escape(string.punctuation)}]")
_TAKEN = re.compile(
    r"://|www\.|(?:mailto|xmpp):|@\w|\$|#\d|\bGH-\d|:(?:100|1234|[\w+-]*[a-z+-][\w+-]*):"
    r"|\b(?=[a-f]*\d)(?=\d*[a-f])[\da-f]{7,40}\b",
    re.IGNORECASE,
)
"""What GitHub takes for a link, a mention, an issue, a commit, an emoji or a formula, also behind a backslash."""
_MARKUP = re.compile(r"[\\`*~]|\](?=[(\[:])|\[(?=\[)|<(?=[A-Za-z/!?])|&(?=#|\w)|(?<![^\W_])_|_(?![^\W_])|(?<!\S)#")
_LEADING = re.compile(r"^(\d{1,9})(?=[.)](?:\s|$))|^(?=[>\[]|[-+](?:\s|$)|--+$)")
_OUTSIDE_OF_CODE = {"`": "&#96;", "|": "|", "\\": r"\\"}


def one_line(text: str, most: int = MOST) -> str:
    """The text on one line, without characters that cannot be seen, cut to its length."""
    short = " ".join(_visible(text).split())
    return short if len(short) <= most else short[: most - 1] + "…"


def line(text: str, most: int = LONGEST) -> str:
    """The text as a line of its own, a heading, an item of a list or a quotation: words, and nothing but them."""
    return _LEADING.sub(lambda found: f"{found[1] or ''}\\", inline(text, most))


def label(text: str, most: int = LONGEST) -> str:
    """The same between the brackets of a picture."""
    pieces = re.split(r"([\[\]])", one_line(text, most))
    return "".join(f"\\{piece}" if piece in ("[", "]") else _words(piece) for piece in pieces)


def cell(text: str, most: int = MOST) -> str:
    """The same as a cell of a table."""
    return inline(text, most).replace("|", r"\|")


def inline(text: str, most: int = MOST) -> str:
    """The same inside of a line; what no backslash keeps from being taken for more becomes code."""
    return _words(one_line(text, most))


def _words(told: str) -> str:
    return " ".join(_coded(word) if _TAKEN.search(word) else _escaped(word) for word in told.split(" "))


def _escaped(word: str) -> str:
    return _MARKUP.sub(lambda found: f"\\{found[0]}", word)


def _coded(word: str) -> str:
    """Code, but for the characters that code cannot hold everywhere."""
    pieces = re.split(r"([`|\\])", word)
    return "".join(_OUTSIDE_OF_CODE.get(piece, f"`{piece}`") for piece in pieces if piece)


def code_lines(lines: Iterable[str]) -> list[str]:
    """Lines with their spaces, without characters that cannot be seen."""
    return [_visible(one).rstrip() for many in lines for one in many.splitlines() or [""]]


def fenced(lines: Iterable[str], language: str = "sh") -> str:
    """Lines as a block of code, to be copied as they are."""
    told = code_lines(lines)
    fence = _fence("\n".join(told))
    return "\n".join([f"{fence}{language}", *told, fence])


def code(text: str, most: int = MOST) -> str:
    """The text as code, also inside of a table: there GitHub looks for no markup, no links and no mentions.

    Between backticks all is literal but backticks themselves and what a table takes for the end of a cell; a text that
    has those is written in character references."""
    short = one_line(text, most)
    if not short:
        return "-"
    if not set(short) & set("`|"):
        return f"`{short}`"
    return f"<code>{_SPECIAL.sub(lambda found: f'&#{ord(found[0])};', short)}</code>"


def block(text: str, most: int = 2000) -> str:
    """The text as a block of code of one line."""
    short = one_line(text, most)
    fence = _fence(short)
    return f"{fence}\n{short}\n{fence}"


def _fence(text: str) -> str:
    return "`" * max(3, max(map(len, re.findall("`+", text)), default=0) + 1)


def _visible(text: str) -> str:
    return "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)


def row(cells: Iterable[str]) -> str:
    """A line of a table; the cells are Markdown already."""
    return f"| {' | '.join(cells)} |"


def heading(columns: Sequence[str]) -> list[str]:
    """The first two lines of a table."""
    return [row(columns), "|---" * len(columns) + "|"]


def details(summary: str, lines: Iterable[str]) -> list[str]:
    """Lines behind a summary that opens them; without lines nothing."""
    inside = "\n".join(lines).strip("\n")
    return [f"<details><summary>{summary}</summary>", "", inside, "", "</details>", ""] if inside else []


def percent(share: float) -> str:
    """A share with its sign: `+5.2 %`."""
    return f"{share * 100:+.1f} %"
