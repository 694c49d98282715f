"""What every format says in the same way."""

from __future__ import annotations

import re
from datetime import UTC

from modeldyno.reports.document import Document, Table
from modeldyno.reports.plural import counted

NOTHING = "Nothing stands out."
REPRODUCE = "How to reproduce this"


def made_sentence(document: Document) -> str:
    """The only words of a report that tell when it was made."""
    made_at = document.made_at.astimezone(UTC) if document.made_at.tzinfo else document.made_at
    return f"Made on {made_at:%Y-%m-%d %H:%M} UTC with modeldyno {document.version}."


def scope_sentence(document: Document) -> str:
    """Which data the report rests on: how many records, from when to when, of which provenance, chosen how."""
    scope = document.scope
    if not scope.records:
        return "No records."
    days = [f"{moment:%Y-%m-%d}" for moment in (scope.since, scope.until) if moment]
    period = f"from {days[0]} to {days[-1]}" if days[0] != days[-1] else f"of {days[0]}"
    origin = ", ".join(f"{count:,} {name}" for name, count in scope.provenance.items())
    said = [f"{counted(scope.records, 'record')} {period}: {origin}."]
    if scope.chosen:
        said.append(f"Chosen: {'; '.join(f'{name} {value}' for name, value in scope.chosen.items())}.")
    if scope.series_left_out:
        said.append(f"{scope.series_left_out:,} of {scope.series:,} series, the oldest, are left out.")
    return " ".join(said)


def caption(table: Table) -> str:
    """The table's own, and how much of it is shown where there is more."""
    shown, total = len(table.head), len(table.rows)
    return table.caption if shown == total else f"{table.caption.rstrip('. ')}. {shown:,} of {total:,} rows."


def paragraphs(text: str) -> list[str]:
    """A text at its empty lines."""
    return [part.strip() for part in re.split(r"\n\s*\n", text) if part.strip()]


def is_date(text: str) -> bool:
    """A day and nothing else, which nobody reads over two lines."""
    return re.fullmatch(r"\d{4}-\d{2}-\d{2}", text) is not None
