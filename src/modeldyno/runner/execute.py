"""Executes a plan: every case ends in exactly one record, handed on the moment it exists."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Protocol

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import Prepares
from modeldyno.core.types import Case, MetricValue, Outcome, Record, Status
from modeldyno.runner.assemble import assemble
from modeldyno.runner.fitting import trial, with_batch_that_fits
from modeldyno.runner.isolate import run_job
from modeldyno.runner.job import Job
from modeldyno.runner.plan import Plan
from modeldyno.runner.processes import Processes
from modeldyno.workloads import WORKLOADS


class Observer(Protocol):
    """Someone who watches a run, such as a progress line."""

    def note(self, process: int, case: Case, text: str) -> None: ...


Sink = Callable[[Record], None]


def execute(run_id: str, plan: Plan, policy: Policy, timeout_s: float, sink: Sink, observer: Observer) -> None:
    """Hand each record to the sink as it is ready: first what cannot run here, then group by group."""
    for case, outcome in plan.skipped:
        sink(assemble(run_id, case, [outcome], datetime.now(UTC), 0.0))
    with Processes(policy.preload) as processes:
        for group in plan.groups:
            _Group(run_id, group, policy, timeout_s, sink, observer, processes).run()


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
        processes: Processes,
    ) -> None:
        self._processes = processes
        self._repeats = policy.processes
        self._run_id, self._policy, self._timeout_s = run_id, policy, timeout_s
        self._sink, self._observer = sink, observer
        self._open = dict.fromkeys(cases, True)
        """Cases without a record yet."""
        self._outcomes: dict[Case, list[Outcome]] = {case: [] for case in cases}
        self._prepared: dict[Case, dict[str, MetricValue]] = {}
        self._seconds: dict[Case, float] = dict.fromkeys(cases, 0.0)
        self._started: dict[Case, datetime] = {}

    def run(self) -> None:
        """On an interrupt, what was measured so far becomes records before the interrupt goes on."""
        try:
            self._prepare()
            for process in range(self._repeats):
                self._measure(process)
        finally:
            for case in [case for case in self._open if self._outcomes[case]]:
                self._finish(case)

    def _prepare(self) -> None:
        """Exports and references, in a process that nothing is measured in; what cannot be had ends its case."""
        if not isinstance(WORKLOADS.get(next(iter(self._open)).workload), Prepares):
            return
        for case, outcome in self._outcomes_of(Job(cases=tuple(self._open), policy=self._policy, prepare=True)):
            if outcome.status is Status.OK:
                self._prepared[case] = outcome.metrics
                continue
            self._outcomes[case].append(outcome)
            if not outcome.out_of_memory:
                self._finish(case)
        self._tell_what_fits()

    def _measure(self, process: int) -> None:
        """Only cases that went well so far are repeated; one that did not is finished, at once or after a look at
        what would have fitted, which waits until no other case is at work."""
        job = Job(cases=tuple(self._open), policy=self._policy, process=process)
        for case, outcome in self._outcomes_of(job):
            self._outcomes[case].append(outcome)
            failed = outcome.status is not Status.OK
            if not outcome.out_of_memory and (failed or process == self._repeats - 1):
                self._finish(case)
        self._tell_what_fits()

    def _tell_what_fits(self) -> None:
        for case in [case for case in self._open if any(o.out_of_memory for o in self._outcomes[case])]:
            self._outcomes[case][-1] = with_batch_that_fits(case, self._outcomes[case][-1], self._attempt)
            self._finish(case)

    def _attempt(self, case: Case) -> Outcome:
        job = Job(cases=(case,), policy=trial(self._policy), trial=True)

        def note(smaller: Case, text: str) -> None:
            self._observer.note(0, smaller, f"does it fit: {text}")

        return next(outcome for _, outcome in run_job(job, self._processes, self._timeout_s, note))

    def _outcomes_of(self, job: Job) -> Iterator[tuple[Case, Outcome]]:
        """The outcomes of a job; each case is charged the time up to its outcome."""
        begin = time.monotonic()

        def note(case: Case, text: str) -> None:
            self._started.setdefault(case, datetime.now(UTC))
            self._observer.note(job.process, case, text)

        for case, outcome in run_job(job, self._processes, self._timeout_s, note):
            now = time.monotonic()
            self._seconds[case] += now - begin
            begin = now
            self._started.setdefault(case, datetime.now(UTC))
            yield case, outcome

    def _finish(self, case: Case) -> None:
        outcomes, started, seconds = self._outcomes[case], self._started[case], self._seconds[case]
        record = assemble(self._run_id, case, outcomes, started, seconds, self._repeats)
        if record.status is Status.OK:
            record = record.model_copy(update={"metrics": self._prepared.get(case, {}) | record.metrics})
        del self._open[case]
        self._sink(record)
