"""Identifiers: sortable random ids for what happened, content hashes for what a thing is."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from typing import Any

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case


def new_id() -> str:
    """A 26-character id that sorts by time of creation (the layout of a ULID)."""
    number = (time.time_ns() // 1_000_000) << 80 | secrets.randbits(80)
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def digest(value: Any, length: int = 16) -> str:
    """A short content hash of anything JSON can hold; key order does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
