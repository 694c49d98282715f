"""Times a device that runs behind the host: by the host's clock, and by events behind a guard."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from time import perf_counter_ns
from typing import Any

from modeldyno.core.protocols import Lap, Step

GUARD_MIN_NS = 200_000
GUARD_MAX_NS = 100_000_000
GUARD_MARGIN = 2.0
"""Guard over enqueue time: covers noise of the host, and a clock that rises after the calibration."""
TRIES = 3
SATURATED = 0.5
"""Share of a step for which the device still works when the last launch is done: launches are far ahead of it."""
HOPELESS = 3
"""After this many laps in a row that no guard could cover, one try per lap is enough."""


@dataclass(frozen=True)
class Queue:
    """What the stopwatch must know of a device's queue."""

    synchronize: Callable[[], None]
    event: Callable[[], Any]
    """Makes an event with `record`, `query` and `elapsed_time` (in ms)."""
    hold: Callable[[int], None]
    """Queues work that keeps the device waiting for so many units."""
    trial_units: int
    """How many units to hold for when calibrating: about a millisecond."""
    scope: Callable[[], AbstractContextManager[Any]]
    """Work done inside goes to the queue that events and guard use."""
    flush: Callable[[], None]
    """Queues the overwriting of the last-level cache."""


class GuardedStopwatch:
    """`device_lap` has the whole step enqueued before the device begins with it, so that no launch latency leaks in.

    A step that keeps the device busy is guarded by another step before it, which also keeps clocks and power as they
    are under load. A shorter one waits behind a guard that does nothing; a lap counts only when that was still
    holding after the last launch, else it is repeated behind a longer one. What waits for the device itself and
    leaves it idle, or has more launches than the driver's queue takes (about 1,000), cannot be covered: its
    `device_ns` stays absent, for it would contain launch latency.
    """

    def __init__(self, queue: Queue, watch: Callable[[], None] = lambda: None) -> None:
        self._queue = queue
        self._watch = watch
        """Called while the device is busy: the moment to read its clock."""
        self._guard_ns = 1_000_000
        self._units_per_ns: float | None = None
        self._missed_in_a_row = 0
        self.missed = 0
        """Laps that no guard could cover."""

    def lap(self, step: Step, count: int) -> Lap:
        """Host time only; events in the loop would be launches of their own."""
        self._queue.synchronize()
        started = perf_counter_ns()
        for _ in range(count):
            step()
            self._queue.synchronize()  # each, or the launches of one would hide behind the work of another
        return Lap(host_ns=perf_counter_ns() - started)

    def device_lap(self, step: Step, cold: bool) -> Lap:
        """`host_ns` is the time the host took to enqueue the step."""
        if cold:
            # The first flush allocates its buffer, which must not happen behind the guard.
            self._flush()
        lap = self._behind_step(step) if not cold else Lap(host_ns=0)
        if lap.device_ns is None:
            lap = self._behind_guard(step, cold)
        return lap

    def _behind_step(self, step: Step) -> Lap:
        lead_end, start, end = (self._queue.event() for _ in range(3))
        self._queue.synchronize()
        with self._queue.scope():
            step()
            lead_end.record()
            start.record()
            before = perf_counter_ns()
            step()
            enqueued = perf_counter_ns()
            end.record()
            held = not lead_end.query()
        self._watch()
        self._queue.synchronize()
        waited_ns = perf_counter_ns() - enqueued
        elapsed_ns = _elapsed_ns(start, end)
        saturated = waited_ns >= SATURATED * elapsed_ns
        return Lap(host_ns=enqueued - before, device_ns=elapsed_ns if held or saturated else None)

    def _behind_guard(self, step: Step, cold: bool) -> Lap:
        lap = Lap(host_ns=0)
        for _ in range(1 if self._missed_in_a_row >= HOPELESS else TRIES):
            lap = self._guarded_lap(step, cold)
            if lap.device_ns is not None:
                self._missed_in_a_row = 0
                return lap
        self._missed_in_a_row += 1
        self.missed += 1
        return lap

    def _flush(self) -> None:
        with self._queue.scope():
            self._queue.flush()

    def _guarded_lap(self, step: Step, cold: bool) -> Lap:
        units = self._units(self._guard_ns)
        guard_end, start, end = (self._queue.event() for _ in range(3))
        self._queue.synchronize()
        with self._queue.scope():
            self._queue.hold(units)
            guard_end.record()
            if cold:
                self._queue.flush()
            start.record()
            before = perf_counter_ns()
            step()
            enqueue_ns = perf_counter_ns() - before
            end.record()
            held = not guard_end.query()
        self._watch()
        self._queue.synchronize()
        self._resize_guard(enqueue_ns, held)
        return Lap(host_ns=enqueue_ns, device_ns=_elapsed_ns(start, end) if held else None)

    def _resize_guard(self, enqueue_ns: int, held: bool) -> None:
        wanted = GUARD_MARGIN * enqueue_ns
        if not held:
            wanted = max(wanted, 2 * self._guard_ns)
        self._guard_ns = round(min(max(wanted, GUARD_MIN_NS), GUARD_MAX_NS))

    def _units(self, ns: int) -> int:
        if self._units_per_ns is None:
            self._units_per_ns = self._calibrate()
        return max(1, round(ns * self._units_per_ns))

    def _calibrate(self) -> float:
        """Units of `hold` per ns; the second of two trials, since the first may load the kernel."""
        elapsed = 0
        for _ in range(2):
            start, end = self._queue.event(), self._queue.event()
            with self._queue.scope():
                start.record()
                self._queue.hold(self._queue.trial_units)
                end.record()
            self._queue.synchronize()
            elapsed = _elapsed_ns(start, end)
        return self._queue.trial_units / elapsed


def _elapsed_ns(start: Any, end: Any) -> int:
    milliseconds = float(start.elapsed_time(end))
    return max(1, round(milliseconds * 1e6))
