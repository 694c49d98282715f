"""The server: requests come together to batches, and one thread runs the model on them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from queue import Empty, SimpleQueue

from modeldyno.core.protocols import Session, Step

Answer = Callable[[Sequence[int]], None]


def batch_sizes(largest: int) -> tuple[int, ...]:
    """Powers of two up to the largest, and that one: each is loaded, for most runtimes want sizes they know."""
    powers = [2**power for power in range(largest.bit_length()) if 2**power < largest]
    return (*powers, largest)


@dataclass
class Tally:
    """What the server did in one test."""

    requests: int = 0
    batches: int = 0
    places: int = 0
    """Items computed, with those that only filled a batch up to a size that is loaded."""

    @property
    def served_batch(self) -> float:
        return self.requests / max(1, self.batches)

    @property
    def padding_share(self) -> float:
        return 1 - self.requests / max(1, self.places)


class Server:
    """Takes up to the largest batch of what has come, or waits for more until the window of the first is over."""

    def __init__(self, session: Session, steps: Mapping[int, Step], window_s: float) -> None:
        self._session, self._window_s = session, window_s
        self._steps = dict(sorted(steps.items()))
        self._largest = max(steps)
        self._come: SimpleQueue[tuple[int, float] | None] = SimpleQueue()

    def receive(self, requests: Sequence[int]) -> None:
        """Called by whoever brings the load, in a thread of its own."""
        now = time.perf_counter()
        for request in requests:
            self._come.put((request, now))

    def end(self) -> None:
        """No more requests."""
        self._come.put(None)

    def serve(self, answer: Answer) -> Tally:
        """Work in this thread until the end."""
        tally = Tally()
        while batch := self._collect():
            size = next(size for size in self._steps if size >= len(batch))
            try:
                self._session.lap(self._steps[size], 1)
            except BaseException:
                self._turn_away(batch, answer)
                raise
            answer(batch)
            tally.requests += len(batch)
            tally.batches += 1
            tally.places += size
        return tally

    def _turn_away(self, batch: list[int], answer: Answer) -> None:
        """After a failure: answer without work until the end, for whoever brings the load waits for it."""
        while batch:
            answer(batch)
            batch = self._collect()

    def _collect(self) -> list[int]:
        """The next batch; empty at the end."""
        first = self._come.get()
        if first is None:
            return []
        batch, until = [first[0]], first[1] + self._window_s
        while len(batch) < self._largest:
            try:
                more = self._come.get(timeout=max(0.0, until - time.perf_counter()))
            except Empty:
                break
            if more is None:
                self.end()
                break
            batch.append(more[0])
        return batch
