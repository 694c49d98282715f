"""Turns profiler rows of any runtime into the few that matter."""

from __future__ import annotations

from collections.abc import Iterable

from modeldyno.core.types import ProfileRow

TOP = 20


def top_rows(rows: Iterable[tuple[str, str | None, int, float]], steps: int) -> tuple[ProfileRow, ...]:
    """The largest rows per step; rows are name, kind, calls and milliseconds over all `steps`."""
    merged: dict[tuple[str, str | None], list[float]] = {}
    for name, kind, calls, milliseconds in rows:
        entry = merged.setdefault((name, kind), [0, 0.0])
        entry[0] += calls
        entry[1] += milliseconds
    total = sum(milliseconds for _, milliseconds in merged.values())
    if total <= 0:
        return ()
    largest = sorted(merged.items(), key=lambda item: -item[1][1])[:TOP]
    return tuple(
        ProfileRow(name=name[:200], kind=kind, calls=round(calls / steps), time_ms=ms / steps, share=ms / total)
        for (name, kind), (calls, ms) in largest
    )
