"""Where worker processes come from: started fresh, or forked from a nursery that is ready to go."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from types import TracebackType
from typing import Protocol, Self

from modeldyno.core.errors import UnknownName
from modeldyno.runner.job import Job
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads import WORKLOADS

_ENVIRONMENT = {
    "OMP_WAIT_POLICY": "PASSIVE",  # spinning threads cost up to ten times under load and nothing when quiet
    "HF_HUB_OFFLINE": "1",
    "TOKENIZERS_PARALLELISM": "false",
}


READY_WITHIN_S = 300.0
"""Importing a runtime from a cold disk can take a minute."""


@dataclass(frozen=True)
class Ends:
    """The file descriptors a worker gets."""

    job: int
    events: int
    log: int
    turns: int | None = None


@dataclass(frozen=True)
class Side:
    """An installation to measure: an interpreter, what is changed of the environment, and where it works."""

    name: str
    python: str = sys.executable
    environment: Mapping[str, str] = field(default_factory=dict)
    folder: Path | None = None


HERE = Side("here")
"""The installation that this program is."""


class Process(Protocol):
    pid: int

    def wait(self) -> int:
        """The exit code; negative for a signal. May be asked more than once."""
        ...


class Processes:
    """Makes worker processes; the nurseries end with it."""

    def __init__(self, preload: bool) -> None:
        self._preload = preload
        self._nurseries: dict[tuple[str, ...], _Nursery] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for nursery in self._nurseries.values():
            nursery.close()

    def start(self, job: Job, ends: Ends) -> Process:
        if not self._preload:
            return fresh(ends)
        modules = _modules(job)
        if job.prepare and self._nurseries:
            # Nothing is measured, and exporting wants what the largest has imported already.
            modules = max(self._nurseries, key=len)
        if modules not in self._nurseries:
            self._nurseries[modules] = _Nursery(modules)
        try:
            return self._nurseries[modules].start(ends)
        except _NurseryDied:
            self._preload = False
            return fresh(ends)


def _modules(job: Job) -> tuple[str, ...]:
    """What the job's workload and runtime import anyway; other packages may name a runtime of their own."""
    case = job.cases[0]
    try:
        return (*RUNTIMES.get(case.runtime).preloads, type(WORKLOADS.get(case.workload)).__module__)
    except UnknownName:
        return ()


def fresh(ends: Ends, side: Side = HERE) -> Process:
    """A process that has imported nothing yet."""
    passed = (ends.events,) if ends.turns is None else (ends.events, ends.turns)
    return subprocess.Popen(
        [side.python, "-P", "-m", "modeldyno.runner.worker", *map(str, passed)],  # -P: not what lies in the folder
        stdin=ends.job,
        stdout=ends.log,
        stderr=subprocess.STDOUT,
        pass_fds=passed,
        cwd=side.folder,
        env={**os.environ, **_ENVIRONMENT, **side.environment},
        start_new_session=True,  # Ctrl-C is for the parent, which ends the worker itself
    )


class _NurseryDied(Exception):
    """Workers can still be started fresh."""


class _Nursery:
    """The parent's side of a nursery."""

    def __init__(self, modules: tuple[str, ...]) -> None:
        self._control, theirs = socket.socketpair()
        self._control.settimeout(READY_WITHIN_S)
        with theirs:
            self._process = subprocess.Popen(
                [sys.executable, "-m", "modeldyno.runner.nursery", str(theirs.fileno()), *modules],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                pass_fds=(theirs.fileno(),),
                env={**os.environ, **_ENVIRONMENT},
                start_new_session=True,
            )
        self._answers = self._control.makefile("rb")

    def start(self, ends: Ends) -> Process:
        with contextlib.suppress(OSError):  # answered below
            socket.send_fds(self._control, [b"job"], [ends.job, ends.events, ends.log])
        return _Forked(self, self.answer())

    def answer(self) -> int:
        try:
            return int(self._answers.readline())
        except (ValueError, OSError) as error:
            raise _NurseryDied from error

    def close(self) -> None:
        self._answers.close()
        self._control.close()
        self._process.kill()
        self._process.wait()


class _Forked:
    """A worker forked by a nursery, which tells its exit code."""

    def __init__(self, nursery: _Nursery, pid: int) -> None:
        self.pid = pid
        self._nursery = nursery
        self._code: int | None = None

    def wait(self) -> int:
        if self._code is None:
            try:
                self._code = self._nursery.answer()
            except _NurseryDied:
                self._code = -signal.SIGKILL  # who was to tell is gone, and the worker with it
        return self._code
