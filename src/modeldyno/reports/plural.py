"""Numbers of things as people say them."""

from __future__ import annotations


def counted(count: int, word: str) -> str:
    """`1 model`, `3 models`, `12,000 models`."""
    return f"{count:,} {word}{'' if count == 1 else 's'}"
