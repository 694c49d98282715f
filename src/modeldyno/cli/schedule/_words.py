"""Entries of the schedule, as people and programs read them."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from modeldyno.reports.schedule import Entry


def moment_text(moment: datetime, entry: Entry) -> str:
    """By the clock that the entry means."""
    return f"{moment.astimezone(entry.zone):%a %Y-%m-%d %H:%M %Z}"


def last_text(entry: Entry) -> tuple[str, str]:
    """For which moment it was made last, and how that ended."""
    if entry.last is None:
        return "-", "-"
    return moment_text(entry.last.due_at, entry), "failed" if entry.last.error else "ok"


def entry_json(entry: Entry, now: datetime) -> dict[str, Any]:
    """The entry as it is kept, and when it is due."""
    due = entry.due(now)
    moments = {"due_at": due and due.isoformat(), "next_at": entry.next(now).isoformat()}
    return entry.model_dump(mode="json") | moments
