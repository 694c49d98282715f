"""The progress of a run on stderr: the case at work, the time left, the last result."""

from __future__ import annotations

import sys
import time
from types import TracebackType
from typing import Self

from modeldyno.cli._tables import one_line
from modeldyno.core.types import Case, Record


class Progress:
    """A live line on a terminal, plain lines elsewhere."""

    def __init__(self, total: int, processes: int) -> None:
        from rich.console import Console
        from rich.live import Live

        self._console = Console(stderr=True, highlight=False, markup=False)
        # Drawn only when something happens: a thread that redraws would take time from what is measured.
        self._live = Live(console=self._console, auto_refresh=False, transient=True) if sys.stderr.isatty() else None
        self._total, self._processes = total, processes
        self._done = 0
        self._begin = time.monotonic()

    def __enter__(self) -> Self:
        if self._live:
            self._live.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._live:
            self._live.stop()

    def note(self, process: int, case: Case, text: str) -> None:
        if self._live:
            attempt = f", process {process + 1} of {self._processes}" if self._processes > 1 else ""
            left = f", {self._left()} left" if self._done else ""
            line = f"[{self._done + 1}/{self._total}{left}] {case.label}{attempt}: {text}"
            self._live.update(line, refresh=True)

    def record(self, record: Record) -> None:
        self._done += 1
        self._console.print(f"[{self._done}/{self._total}] {one_line(record)}", soft_wrap=True)

    def _left(self) -> str:
        """By the mean time of the cases so far."""
        seconds = (time.monotonic() - self._begin) / self._done * (self._total - self._done)
        return f"{seconds:.0f} s" if seconds < 100 else f"{seconds / 60:.0f} min"
