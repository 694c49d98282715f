"""Which records to ask for, in words; SQL is made of them here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from datetime import UTC, datetime
from typing import Any

from modeldyno.core.types import Provenance, Status

RELATION = """
    records r
    JOIN cases c USING (case_key)
    LEFT JOIN models m USING (model_id)
    LEFT JOIN devices d USING (device_id)
"""
"""What a condition may speak of."""

_ANY_OF = {
    "run_id": "r.run_id",
    "record_id": "r.record_id",
    "series_id": "r.series_id",
    "model": "lower(c.model)",
    "family": "m.family",
    "architecture": "m.architecture",
    "platform": "c.platform",
    "device": "lower(d.name)",
    "runtime": "c.runtime",
    "precision": "c.precision",
    "batch": "c.batch",
    "workload": "c.workload",
    "provenance": "r.provenance",
    "status": "r.status",
}
_FOLDED = ("model", "device")
"""Compared without regard to case."""


@dataclass(frozen=True)
class Filter:
    """Which records to read; an empty field means any, several values mean any of them."""

    run_id: tuple[str, ...] = ()
    record_id: tuple[str, ...] = ()
    series_id: tuple[str, ...] = ()
    model: tuple[str, ...] = ()
    family: tuple[str, ...] = ()
    architecture: tuple[str, ...] = ()
    platform: tuple[str, ...] = ()
    device: tuple[str, ...] = ()
    runtime: tuple[str, ...] = ()
    precision: tuple[str, ...] = ()
    batch: tuple[int, ...] = ()
    workload: tuple[str, ...] = ()
    provenance: tuple[Provenance, ...] = ()
    status: tuple[Status, ...] = ()
    since: datetime | None = None
    """From this moment on."""
    until: datetime | None = None
    """Before this moment."""

    def narrowed(self, other: Filter) -> Filter:
        """What both choose."""
        both = {name: _both(name, getattr(self, name), getattr(other, name)) for name in _ANY_OF}
        asked = {name for name in _ANY_OF if getattr(self, name) and getattr(other, name)}
        if any(not both[name] for name in asked):
            return Filter(record_id=("none",))
        since = max(filter(None, (self.since, other.since)), default=None)
        until = min(filter(None, (self.until, other.until)), default=None)
        return Filter(**both, since=since, until=until)

    def where(self, columns: Mapping[str, str] = _ANY_OF) -> tuple[str, list[object]]:
        """A condition over `RELATION`, or over what calls its columns otherwise, and its values."""
        parts: list[tuple[str, object]] = []
        for field in fields(self):
            wanted = getattr(self, field.name)
            if field.name in _ANY_OF and wanted:
                folded = [value.lower() for value in wanted] if field.name in _FOLDED else list(wanted)
                # One value by equality, for which DuckDB can use an index.
                one = len(folded) == 1
                parts.append((f"{columns[field.name]} {'= ?' if one else '= ANY(?)'}", folded[0] if one else folded))
        if self.since:
            parts.append(("r.started_at >= ?", naive_utc(self.since)))
        if self.until:
            parts.append(("r.started_at < ?", naive_utc(self.until)))
        return _joined([part for part, _ in parts]), [value for _, value in parts]


def _both(name: str, mine: tuple[Any, ...], theirs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Values that stand on both sides, or all where one side asks for any."""
    if not (mine and theirs):
        return mine or theirs
    fold = str.lower if name in _FOLDED else lambda value: value
    wanted = {fold(value) for value in theirs}
    return tuple(value for value in mine if fold(value) in wanted)


_ONE_SERIES = f"{_ANY_OF['series_id']} = ?"


def _joined(parts: list[str]) -> str:
    """DuckDB uses an index only where the condition on it stands alone in the scan. So the others get company from a
    second column, which changes nothing but that they are looked at afterwards."""
    if _ONE_SERIES in parts:
        parts = [part if part == _ONE_SERIES else f"({part} OR r.record_id = r.series_id)" for part in parts]
    return " AND ".join(parts) or "true"


def naive_utc(moment: datetime) -> datetime:
    """As the database keeps moments; one without a zone is in UTC already."""
    return moment.astimezone(UTC).replace(tzinfo=None) if moment.tzinfo else moment
