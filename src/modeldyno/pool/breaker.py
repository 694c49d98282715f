"""Leaves a model alone for a while after too many failures in a row, instead of loading it again and again."""

from __future__ import annotations

import time
from collections.abc import Callable

from modeldyno.pool.errors import Resting


class Breaker:
    """Counts the failures of one model. After a rest one try is let through; if that fails, the rest begins anew."""

    def __init__(self, trips: int, rest_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._trips, self._rest_s, self._clock = trips, rest_s, clock
        self._rests_until = clock()
        self._reason = ""
        self.failures = 0
        """In a row; a step that works sets them back, a load alone does not."""

    def check(self, name: str) -> None:
        """Raises Resting while the model is left alone."""
        left = self._rests_until - self._clock()
        if left > 0:
            raise Resting(
                f"{name} failed {self.failures} times in a row, at last with '{self._reason}'; "
                f"mend that, or try again in {left:.0f} s."
            )

    def failed(self, reason: str) -> None:
        self.failures += 1
        self._reason = reason
        if self.failures >= self._trips:
            self._rests_until = self._clock() + self._rest_s

    def worked(self) -> None:
        self.failures = 0
