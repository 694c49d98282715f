"""Lists, ages, moments and sizes as people write them: `a,b`, `30d`, `2026-11-15`, `6.6 MB`."""

from __future__ import annotations

import os
import re
from datetime import UTC, datetime, timedelta

from modeldyno.core.errors import InputError

FILTERS = {
    "model": "Only these models.",
    "on": "Only these platforms.",
    "family": "Only these model families.",
    "runtime": "Only these runtimes.",
    "precision": "Only these precisions.",
    "batch": "Only these batch sizes.",
    "workload": "Only these workloads.",
    "status": "Only ok, skipped, failed, invalid.",
    "provenance": "Only measured, imported, predicted, simulated.",
    "since": "Only from this moment on: 2026-11-15, or 7d ago.",
    "until": "Only before this moment.",
}
"""By what records are chosen, in options, templates and addresses, and what that does."""
_UNITS = {"h": "hours", "d": "days", "w": "weeks"}


def comma_list(text: str | None) -> list[str]:
    """`a,b` as two names; nothing as none."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]


def age(text: str) -> timedelta:
    """`12h`, `30d`, `8w`."""
    match = re.fullmatch(r"(\d{1,5})([hdw])", text.strip().lower())
    if not match:
        raise InputError(f"'{text}' is no age; write hours, days or weeks like 12h, 30d or 8w.")
    return timedelta(**{_UNITS[match[2]]: int(match[1])})


def moment(text: str | None) -> datetime | None:
    """A date or moment of ISO 8601, in UTC if it names no zone; or how long ago: `7d`."""
    if text is None:
        return None
    if re.fullmatch(r"\d+[A-Za-z]", text.strip()):
        return ago(text)
    try:
        found = datetime.fromisoformat(text.strip())
    except ValueError:
        raise InputError(f"'{text}' is no moment; write it like 2026-11-15, 2026-11-15T12:30 or 7d.") from None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def ago(text: str) -> datetime:
    """The moment that is so long ago."""
    try:
        return now() - age(text)
    except OverflowError:
        raise InputError(f"'{text}' ago there was no calendar; write a smaller age.") from None


def now() -> datetime:
    """The present in UTC; or the moment that SOURCE_DATE_EPOCH names, for output that is the same each time."""
    fixed = os.environ.get("SOURCE_DATE_EPOCH", "")
    return datetime.fromtimestamp(int(fixed), UTC) if fixed.isdecimal() else datetime.now(UTC)


def stamp() -> str:
    """Now, for names of files."""
    return datetime.now(UTC).strftime("%Y%m%dT%H%M%SZ")


def size_text(size: int) -> str:
    """Bytes as kB or MB."""
    return f"{size / 1e6:.1f} MB" if size >= 1e6 else f"{size / 1e3:.1f} kB"
