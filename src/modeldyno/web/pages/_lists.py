"""What pages with lists share: how much of a list is shown, and all of it for the CSV."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import overload

from modeldyno.core.types import Status
from modeldyno.store.snapshot import Row

MOST = 120
"""Results that a page shows."""
PROBLEMS = 20
"""Results that did not work, shown apart."""
EXPORTED = 10_000
"""Rows of a CSV."""
BAD = tuple(status for status in Status if status is not Status.OK)


class Later(Sequence[Row]):
    """Rows that are read when someone looks at them: of a page in HTML or JSON nobody does."""

    def __init__(self, read: Callable[[], list[Row]]) -> None:
        self._read = read
        self._rows: list[Row] | None = None

    def _all(self) -> list[Row]:
        if self._rows is None:
            self._rows = self._read()
        return self._rows

    @overload
    def __getitem__(self, place: int) -> Row: ...
    @overload
    def __getitem__(self, place: slice) -> list[Row]: ...
    def __getitem__(self, place: int | slice) -> Row | list[Row]:
        return self._all()[place]

    def __len__(self) -> int:
        return len(self._all())
