"""The one error tree: each error is a sentence that ends in what to do, and carries its exit code."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_MOST_NAMES = 24
"""Listed in one sentence."""


def is_out_of_memory(error: BaseException) -> bool:
    """PyTorch has its own class for devices and a plain RuntimeError for the host; exporters wrap either."""
    told: BaseException | None = error
    while told is not None:
        if isinstance(told, MemoryError) or type(told).__name__ == "OutOfMemoryError":
            return True
        if "can't allocate memory" in str(told):
            return True
        told = told.__cause__
    return False


class DynoError(Exception):
    """Anything a user should read as a sentence instead of a traceback."""

    exit_code = 1


class InputError(DynoError):
    """The user's input is wrong; nothing was started."""

    exit_code = 2


class UnknownName(InputError):
    """A name that is not in the list of known ones; says the nearest, and lists all of a short list."""

    def __init__(self, kind: str, name: str, known: Iterable[str]) -> None:
        self.name = name
        self.known = tuple(sorted(known))
        super().__init__(f"Unknown {kind} '{name}'{self._nearest()}; known: {self._listed()}.")

    def _listed(self) -> str:
        more = len(self.known) - _MOST_NAMES
        return ", ".join(self.known[:_MOST_NAMES]) + (f" and {more} more" if more > 0 else "")

    def _nearest(self) -> str:
        near = difflib.get_close_matches(self.name.lower(), [k.lower() for k in self.known], n=1, cutoff=0.5)
        if not near:
            return ""
        match = next(k for k in self.known if k.lower() == near[0])
        return f", did you mean '{match}'?"


class JobError(DynoError):
    """The job was understood but could not be done."""


class Unsupported(DynoError):
    """This combination cannot run here; the runner stores the case as `skipped` with the reason."""

    def __init__(self, reason: str, remedy: str | None = None) -> None:
        self.reason = reason
        self.remedy = remedy
        super().__init__(reason if remedy is None else f"{reason}; {remedy}")
