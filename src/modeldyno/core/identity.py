"""Identifiers: sortable random ids for what happened, content hashes for what a thing is."""

from __future__ import annotations

import hashlib
import json
import secrets
import time
from datetime import datetime
from typing import Any

_ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz"  # Crockford's base 32, lower case


def new_id() -> str:
    """A 26-character id that sorts by time of creation (the layout of a ULID)."""
    return _written(time.time_ns() // 1_000_000, secrets.randbits(80))


def stable_id(moment: datetime, *parts: str) -> str:
    """An id of the same layout that is always the same for the same moment and parts."""
    low = hashlib.sha256("\0".join(parts).encode()).digest()[:10]
    return _written(max(0, round(moment.timestamp() * 1000)), int.from_bytes(low))


def _written(milliseconds: int, low: int) -> str:
    number = (milliseconds % 2**48) << 80 | low
    return "".join(_ALPHABET[(number >> shift) & 31] for shift in range(125, -1, -5))


def digest(value: Any, length: int = 16) -> str:
    """A short content hash of anything JSON can hold; key order does not matter."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:length]
