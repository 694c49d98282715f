"""One attempt at a run: measures the cases that have no record yet; the command line and the server's jobs share it."""

from __future__ import annotations

import subprocess
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Protocol

from modeldyno import __version__
from modeldyno.core.policy import policy
from modeldyno.core.types import Case, Record, Run
from modeldyno.measure.host import describe_host
from modeldyno.runner.execute import Observer, execute
from modeldyno.runner.plan import make_plan
from modeldyno.runner.recorder import Recorder
from modeldyno.store.store import Store


class Watcher(Observer, Protocol):
    """Someone who also wants to see the records."""

    def record(self, record: Record) -> None: ...


def new_run(cases: Iterable[Case], effort: str, settings: dict[str, Any], command: str, name: str | None = None) -> Run:
    """A run on this host, of which nothing is measured yet."""
    return Run(
        host=describe_host(),
        name=name,
        command=command,
        version=__version__,
        commit=_current_commit(),
        plan=tuple(cases),
        effort=effort,
        settings=settings,
    )


def changes_of_policy(processes: int | None, samples: int | None, energy: bool | None) -> dict[str, Any]:
    """What the user's words change of the effort's policy."""
    changes: dict[str, Any] = {}
    if processes is not None:
        changes |= {"processes": processes}
    if processes is not None and processes > 1:
        changes |= {"preload": False}
    if samples is not None:
        changes["samples"] = samples
    if energy is not None:
        changes["energy_windows"] = 3 if energy else 0
    return changes


class Attempt:
    """From plan to records. Building one asks the platforms what is possible and touches nothing."""

    def __init__(self, store: Store, run: Run, timeout_s: float, kept: Iterable[Record] = ()) -> None:
        self.run = run
        self.records = list(kept)
        """Those of earlier attempts, then those of this one."""
        self.effort = policy(run.effort).model_copy(update=run.settings)
        finished = {record.case for record in self.records}
        self.plan = make_plan(case for case in run.plan if case not in finished)
        self._store, self._timeout_s = store, timeout_s

    @property
    def left(self) -> int:
        """Cases that get their record in this attempt."""
        return self.plan.runnable + len(self.plan.skipped)

    def measure(self, watcher: Watcher, warn: Callable[[str], None], output: Path | None = None) -> None:
        """Outputs are opened first; every record is durable before the next case begins."""
        with Recorder(self._store, self.run, warn, output, bool(self.records)) as recorder:

            def sink(record: Record) -> None:
                recorder.add(record)
                self.records.append(record)
                watcher.record(record)

            execute(self.run.run_id, self.plan, self.effort, self._timeout_s, sink, watcher)


def _current_commit() -> str | None:
    """The commit of the repository in the working directory, where there is one."""
    try:
        done = subprocess.run(["git", "rev-parse", "HEAD"], capture_output=True, text=True, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout.strip() if done.returncode == 0 else None
