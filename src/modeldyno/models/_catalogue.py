"""The catalogue: every entry of every architecture, found by any of its names."""

from __future__ import annotations

from functools import cache

from modeldyno.core.registry import Registry
from modeldyno.models._architecture import FAMILIES, Architecture, Entry

ARCHITECTURES: Registry[Architecture] = Registry("modeldyno.models", "architecture")


def catalogue() -> tuple[Entry, ...]:
    """All entries, architecture by architecture."""
    return tuple(entry for member in ARCHITECTURES.all() for entry in member.entries)


def families() -> tuple[str, ...]:
    return FAMILIES


@cache
def _by_name() -> dict[str, Entry]:
    return {name.lower(): entry for entry in catalogue() for name in entry.names}


def find(name: str) -> Entry | None:
    """The entry that answers to `name`, whatever its case."""
    return _by_name().get(name.lower())


def names() -> tuple[str, ...]:
    return tuple(entry.name for entry in catalogue())
