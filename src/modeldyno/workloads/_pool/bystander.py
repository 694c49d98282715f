"""Somebody who works with another model while one fails, and whether that went on."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from modeldyno.core.types import Case
from modeldyno.pool import Pool


@dataclass(frozen=True)
class Span:
    """From when to when, in seconds of one clock."""

    begun: float
    ended: float


class Bystander:
    """A user of another model, at work all the while."""

    def __init__(self, pool: Pool, case: Case) -> None:
        self._pool, self._case = pool, case
        self._steps: list[Span] = []
        self._stepped = threading.Condition()
        self._enough = self._ended = False

    def work(self) -> None:
        try:
            while not self._enough:
                self._step()
        finally:
            with self._stepped:
                self._ended = True
                self._stepped.notify_all()

    def stop(self) -> None:
        self._enough = True

    def went_on(self, recovery: Span) -> bool:
        """Waits for a step that began after the failure."""
        with self._stepped:
            self._stepped.wait_for(lambda: self._ended or self._steps[-1].begun > recovery.begun)
            return went_on(self._steps, recovery)

    def begun(self) -> None:
        with self._stepped:
            self._stepped.wait_for(lambda: self._ended or self._steps)

    def _step(self) -> None:
        with self._pool.borrow(self._case) as loaded:
            begin = time.perf_counter()
            loaded.step()
        with self._stepped:
            self._steps.append(Span(begin, time.perf_counter()))
            self._stepped.notify_all()


def went_on(steps: Sequence[Span], recovery: Span) -> bool:
    """Whether a step began after the failure and before all was well again, or as soon as a long one let it."""
    later = next((place for place, step in enumerate(steps) if step.begun > recovery.begun), None)
    if later is None:
        return False
    return steps[later].begun <= recovery.ended or (later > 0 and steps[later - 1].ended >= recovery.ended)


@contextlib.contextmanager
def bystander(pool: Pool, case: Case) -> Iterator[Bystander]:
    """At work inside the block; its errors are errors of the case."""
    user = Bystander(pool, case)
    with ThreadPoolExecutor(1) as crew:
        working = crew.submit(user.work)
        user.begun()
        try:
            yield user
        finally:
            user.stop()
        working.result()
