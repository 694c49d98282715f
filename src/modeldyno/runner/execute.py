"""Executes a plan: every case ends in exactly one record, handed on the moment it exists."""

from __future__ import annotations

import functools
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Protocol

from modeldyno.core.policy import Policy
from modeldyno.core.types import Case, Outcome, Record, Status
from modeldyno.runner.assemble import assemble
from modeldyno.runner.isolate import run_group
from modeldyno.runner.plan import Plan


class Observer(Protocol):
    """Someone who watches a run, such as a progress line."""

    def note(self, process: int, case: Case, text: str) -> None: ...


Sink = Callable[[Record], None]


def execute(run_id: str, plan: Plan, policy: Policy, timeout_s: float, sink: Sink, observer: Observer) -> None:
    """Hand each record to the sink as it is ready: first what cannot run here, then group by group."""
    for case, outcome in plan.skipped:
        sink(assemble(run_id, case, [outcome], datetime.now(UTC), 0.0))
    for group in plan.groups:
        _Group(run_id, group, policy, timeout_s, sink, observer).run()


class _Group:
    """Cases that share a loaded model, over all their processes."""

    def __init__(
        self,
        run_id: str,
        cases: tuple[Case, ...],
        policy: Policy,
        timeout_s: float,
        sink: Sink,
        observer: Observer,
    ) -> None:
        self._run_id, self._policy, self._timeout_s = run_id, policy, timeout_s
        self._sink, self._observer = sink, observer
        self._open = dict.fromkeys(cases, True)
        """Cases without a record yet."""
        self._outcomes: dict[Case, list[Outcome]] = {case: [] for case in cases}
        self._seconds: dict[Case, float] = dict.fromkeys(cases, 0.0)
        self._started_at = datetime.now(UTC)

    def run(self) -> None:
        """On an interrupt, what was measured so far becomes records before the interrupt goes on."""
        try:
            for process in range(self._policy.processes):
                self._one_process(process)
        finally:
            for case in [case for case in self._open if self._outcomes[case]]:
                self._finish(case)

    def _one_process(self, process: int) -> None:
        """Only cases that went well so far are repeated; one that did not is finished at once."""
        begin = time.monotonic()
        note = functools.partial(self._observer.note, process)
        for case, outcome in run_group(tuple(self._open), self._policy, process, self._timeout_s, note):
            now = time.monotonic()
            self._seconds[case] += now - begin
            begin = now
            self._outcomes[case].append(outcome)
            if outcome.status is not Status.OK or process == self._policy.processes - 1:
                self._finish(case)

    def _finish(self, case: Case) -> None:
        del self._open[case]
        outcomes, seconds = self._outcomes[case], self._seconds[case]
        self._sink(assemble(self._run_id, case, outcomes, self._started_at, seconds))
