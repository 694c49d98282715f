"""Names of hardware, as makers, drivers and people write them."""

from __future__ import annotations

import re


def occurs(word: str, name: str) -> bool:
    """As whole words: an A10 is no A100."""
    return re.search(rf"(?<![a-z0-9]){re.escape(word.lower())}(?![a-z0-9])", name.lower()) is not None
