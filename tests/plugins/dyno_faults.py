"""Workloads that really crash, hang or run out of memory, and two that behave; found through entry points."""

from __future__ import annotations

import ctypes
import os
import resource
import signal
import time
from collections.abc import Callable

from modeldyno.core.protocols import Bench
from modeldyno.core.types import Outcome, Passport, Status
from modeldyno.measure import loop


class Fault:
    def __init__(self, name: str, act: Callable[[Bench], None]) -> None:
        self.name = name
        self._act = act

    def run(self, bench: Bench) -> Outcome:
        self._act(bench)
        work = range(10_000 * bench.case.batch)
        samples = loop.sample(bench.session, lambda: sum(work), bench.policy, bench.process, bench.turns)
        return Outcome(status=Status.OK, device=bench.session.device, samples=samples, passport=Passport.of(()))


def _segfault(bench: Bench) -> None:
    ctypes.string_at(0)


def _exhaust_memory(bench: Bench) -> None:
    """Really runs out, against a limit of its own so that the machine survives."""
    limit = 512 * 2**20
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    hoard = []
    while True:
        hoard.append(bytearray(64 * 2**20))


def _take_by_the_batch(bench: Bench) -> None:
    """400 MB an item, of 2 GB."""
    limit = 2 * 2**30
    resource.setrlimit(resource.RLIMIT_DATA, (limit, limit))
    _ = [bytearray(400 * 2**20) for _ in range(bench.case.batch)]


def _hang(bench: Bench) -> None:
    while True:
        time.sleep(3600)


def _raise(bench: Bench) -> None:
    raise RuntimeError("the kernel went on holiday")


def _first_batch_only(bench: Bench) -> None:
    """Dies in the middle of a group: batch 2 segfaults, the others are fine."""
    if bench.case.batch == 2:
        ctypes.string_at(0)


def _when_told(bench: Bench) -> None:
    if os.environ.get("FAULT_NOW"):
        raise RuntimeError("it was told to break")


SEGFAULT = Fault("fault-segfault", _segfault)
KILL = Fault("fault-kill", lambda bench: os.kill(os.getpid(), signal.SIGKILL))
MEMORY = Fault("fault-memory", _exhaust_memory)
LARGE = Fault("fault-large", _take_by_the_batch)
HANG = Fault("fault-hang", _hang)
RAISE = Fault("fault-raise", _raise)
EXIT = Fault("fault-exit", lambda bench: os._exit(7))
NONE = Fault("fault-none", lambda bench: None)
SOME = Fault("fault-some", _first_batch_only)
TOLD = Fault("fault-told", _when_told)


class Alone:
    """Knows nothing of turns."""

    name = "fault-alone"

    def run(self, bench: Bench) -> Outcome:
        samples = loop.sample(bench.session, lambda: sum(range(10_000)), bench.policy, bench.process)
        return Outcome(status=Status.OK, device=bench.session.device, samples=samples, passport=Passport.of(()))


ALONE = Alone()
