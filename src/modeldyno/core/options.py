"""Which options of a case say how its work is done; all others say what is done, such as a scenario of serving."""

from __future__ import annotations

from modeldyno.core.types import Case

HOW = frozenset({"threads", "cache", "io_binding", "hint", "requests", "layout", "browser", "compute_unit"})
"""Stated here, so that a stored record means the same whatever is installed where it is read."""


def options_of_work(case: Case) -> tuple[tuple[str, object], ...]:
    """Records that differ in these are no alternatives to each other."""
    return tuple(sorted((name, value) for name, value in case.options.items() if name not in HOW))
