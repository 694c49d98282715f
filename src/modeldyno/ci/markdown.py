"""Text from outside as GitHub's Markdown: shown as it is, and never taken for markup, a link or a mention."""

from __future__ import annotations

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence

MOST = 200
"""Characters of one text from outside."""
_SPECIAL = re.compile(f"[{re.escape(string.punctuation)}]")


def one_line(text: str, most: int = MOST) -> str:
    """The text on one line, without characters that cannot be seen, cut to its length."""
    seen = "".join(" " if unicodedata.category(letter)[0] in "CZ" else letter for letter in text)
    short = " ".join(seen.split())
    return short if len(short) <= most else short[: most - 1] + "…"


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
    longest = max(map(len, re.findall("`+", short)), default=0)
    fence = "`" * max(3, longest + 1)
    return f"{fence}\n{short}\n{fence}"


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
