"""The sampling loop: calibrate, warm up until windows agree, sample until the interval is narrow enough."""

from __future__ import annotations

import gc
import math
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from itertools import pairwise

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import ReadsParts, Session, Step, TimesDevice, Turns
from modeldyno.core.types import Samples, Stop
from modeldyno.measure import statistics
from modeldyno.measure.host import thread_wait_ns

NS_PER_MS = 1e6
TIMER_SHARE = 1e-4
"""Largest share of a sample that reading the clock may take (torch.utils.benchmark)."""
SLOW_STEP_NS = 100e6
DEVICE_TIME_SHARE = 0.5
"""Device-only laps may take this share of the sampling time on top."""


HOPELESS_LAPS = 3
"""Device laps without a device time after which no more are tried: the step waits for the device itself."""
TURN_SAMPLES = 3
"""The fewest samples of a turn, however long they take."""


@dataclass
class _Columns:
    """Samples as they arrive, per step, in milliseconds."""

    steps: int
    host: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    wait: list[float] = field(default_factory=list)
    parts: dict[str, list[float]] = field(default_factory=dict)

    def take(self, session: Session, step: Step) -> None:
        cpu, waited = time.process_time_ns(), thread_wait_ns()
        lap = session.lap(step, self.steps)
        scale = self.steps * NS_PER_MS  # divided by, not multiplied with: 5718829 ns are 5.718829 ms
        self.host.append(lap.host_ns / scale)
        self.cpu.append((time.process_time_ns() - cpu) / scale)
        waits = thread_wait_ns()
        if waited is not None and waits is not None:
            self.wait.append((waits - waited) / scale)
        for name, values in _read(step).items():
            self.parts.setdefault(name, []).extend(values)


def _read(step: object) -> Mapping[str, Sequence[float]]:
    return step.read() if isinstance(step, ReadsParts) else {}


def sample(session: Session, step: Step, policy: Policy, process: int = 0, turns: Turns | None = None) -> Samples:
    """Raw samples of `step` on this session, by the policy's rules, or in the turns that are given."""
    with no_garbage_collection():
        steps = steps_per_sample(session, step)
        warmup, steady = _warm_up(session, step, steps, policy)
        if turns is None:
            columns, stop = _collect(session, step, steps, policy)
        else:
            columns, stop = _collect_in_turns(session, step, steps, turns)
        device, cold = _device_samples(session, step, policy)
    return Samples(
        process=process,
        steps_per_sample=steps,
        warmup_ms=warmup.host,
        host_ms=columns.host,
        device_ms=device,
        device_cold_ms=cold,
        cpu_ms=columns.cpu,
        wait_ms=columns.wait,
        parts=columns.parts,
        stop=stop,
        steady=steady,
    )


def steps_per_sample(session: Session, step: Step) -> int:
    """How many steps to time together so that reading the clock costs at most 0.01 % of a sample."""
    needed = _timer_overhead_ns() / TIMER_SHARE
    shortest = float(session.lap(step, 1).host_ns)
    if shortest < needed:
        shortest = min(session.lap(step, 1).host_ns for _ in range(3))
    return max(1, math.ceil(needed / max(shortest, 1.0)))


def _timer_overhead_ns() -> int:
    stamps = [time.perf_counter_ns() for _ in range(101)]
    return max(1, min(after - before for before, after in pairwise(stamps)))


def _warm_up(session: Session, step: Step, steps: int, policy: Policy) -> tuple[_Columns, bool]:
    """Run until the last two windows agree, or to the cap; says which."""
    columns = _Columns(steps)
    deadline = time.perf_counter() + policy.warmup_max_s
    columns.take(session, step)
    window = 3 if columns.host[0] * steps * NS_PER_MS > SLOW_STEP_NS else 10
    while True:
        columns.take(session, step)
        recent = columns.host[-2 * window :]
        if len(recent) == 2 * window and statistics.windows_agree(recent[:window], recent[window:]):
            return columns, True
        if len(columns.host) >= 3 and time.perf_counter() > deadline:
            return columns, False


def _collect(session: Session, step: Step, steps: int, policy: Policy) -> tuple[_Columns, Stop]:
    columns = _Columns(steps)
    noise: list[float] = []
    begin = time.perf_counter()
    while True:
        columns.take(session, step)
        stop = _stop(columns.host, noise, time.perf_counter() - begin, policy)
        if stop is not None:
            return columns, stop


def _collect_in_turns(session: Session, step: Step, steps: int, turns: Turns) -> tuple[_Columns, Stop]:
    """The first sample of a turn is not kept: the caches are still full of another process's work."""
    columns = _Columns(steps)
    for seconds in turns:
        _Columns(steps).take(session, step)
        first = len(columns.host)
        deadline = time.perf_counter() + seconds
        while len(columns.host) < first + TURN_SAMPLES or time.perf_counter() < deadline:
            columns.take(session, step)
        turns.taken(columns.host[first:])
    return columns, Stop.TURNS


def _stop(host: list[float], noise: list[float], elapsed: float, policy: Policy) -> Stop | None:
    n = len(host)
    if policy.samples is not None:
        return Stop.SAMPLE_COUNT if n >= policy.samples else None
    if elapsed >= policy.max_time_s and n >= 3:
        return Stop.TIME_CAP
    if n < policy.min_samples or n % max(1, n // 20):
        return None
    width = statistics.median_interval(host).relative_half_width
    noise.append(statistics.relative_deviation(host))
    if elapsed < policy.min_time_s:
        return None
    if width <= policy.relative_width:
        return Stop.INTERVAL
    return Stop.NOISE_SETTLED if statistics.noise_settled(noise) else None


def _device_samples(session: Session, step: Step, policy: Policy) -> tuple[list[float], list[float]]:
    """Times of the device alone, hot and with a flushed cache, where the session can tell them.

    A step that reads its own parts waits for the device in between: no guard could cover it."""
    if not isinstance(session, TimesDevice) or isinstance(step, ReadsParts):
        return [], []
    hot = _device_laps(session, step, policy, cold=False)
    return hot, _device_laps(session, step, policy, cold=True)


def _device_laps(session: TimesDevice, step: Step, policy: Policy, cold: bool) -> list[float]:
    times: list[float] = []
    misses = 0
    deadline = time.perf_counter() + policy.max_time_s * DEVICE_TIME_SHARE / 2
    while misses < HOPELESS_LAPS and time.perf_counter() < deadline and not _narrow(times, policy):
        lap = session.device_lap(step, cold)
        if lap.device_ns is None:
            misses += 1
        else:
            times.append(lap.device_ns / NS_PER_MS)
    return times


def _narrow(times: list[float], policy: Policy) -> bool:
    enough = len(times) >= policy.min_samples
    return enough and statistics.median_interval(times).relative_half_width <= policy.relative_width


@contextmanager
def no_garbage_collection() -> Iterator[None]:
    """A collection in the middle of a sample is the harness's cost, not the model's."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
