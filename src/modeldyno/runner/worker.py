"""The worker process: reads one job from stdin, measures its cases, writes events to the pipe it was given.

Run as `python -m modeldyno.runner.worker FD [TURNS]`; what comes through a second pipe says when to sample. It needs
neither the store nor the command line.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence

from modeldyno.core.errors import InputError, Unsupported, is_out_of_memory
from modeldyno.core.protocols import Bench, Prepares, Session
from modeldyno.core.types import Case, Outcome, Status
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.job import Event, Finished, Job, Note, Started, Turn
from modeldyno.workloads import WORKLOADS

_PR_SET_PDEATHSIG = 1


def main(descriptor: int, turns: int | None = None) -> None:
    os.set_inheritable(descriptor, False)  # a child that outlives us must not keep the pipe open
    die_with_parent()
    job = Job.model_validate_json(sys.stdin.buffer.read())
    given = None if turns is None else _Turns(turns, descriptor)
    measure = _Measurer(job, lambda text: _send(descriptor, Note(text=text)), given)
    for position, case in enumerate(job.cases):
        _send(descriptor, Started(case=position))
        try:
            outcome = measure(case)
        except Exception as error:  # noqa: BLE001 - whatever a model or driver throws ends this case only
            outcome = _outcome_of(error, case)
        _send(descriptor, Finished(case=position, outcome=outcome))
    measure.close()


def die_with_parent() -> None:
    """A parent that was killed must not leave a worker on the device; Linux can promise that."""
    with contextlib.suppress(OSError, AttributeError):
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)


class _Measurer:
    """Measures or prepares the cases of a job; the device is opened once, and only to measure."""

    def __init__(self, job: Job, note: Callable[[str], None], turns: _Turns | None) -> None:
        self._job, self._note, self._turns = job, note, turns
        self._session: Session | None = None
        self._fresh = True

    def close(self) -> None:
        if self._session is not None:
            self._session.close()

    def __call__(self, case: Case) -> Outcome:
        workload = WORKLOADS.get(case.workload)
        if self._job.prepare and isinstance(workload, Prepares):
            return workload.prepare(case, self._note)
        if self._session is None:
            self._session = PLATFORMS.get(case.platform).open(case.index)
        fresh, self._fresh = self._fresh, False
        job = self._job
        given = (self._session, job.process, fresh, self._note, self._turns, job.trial)
        return workload.run(Bench(case, job.policy, *given))


class _Turns:
    """Lines on a pipe, each the seconds of a turn; the end of the pipe is the end of sampling."""

    def __init__(self, descriptor: int, events: int) -> None:
        os.set_inheritable(descriptor, False)
        self._descriptor, self._events = descriptor, events

    def __iter__(self) -> Iterator[float]:
        self.taken(())
        with os.fdopen(self._descriptor, "rb") as lines:
            for line in lines:
                yield float(line)

    def taken(self, samples_ms: Sequence[float]) -> None:
        _send(self._events, Turn(samples_ms=tuple(samples_ms)))


def _send(descriptor: int, event: Event) -> None:
    data = event.model_dump_json().encode() + b"\n"
    while data:
        data = data[os.write(descriptor, data) :]


def _outcome_of(error: Exception, case: Case) -> Outcome:
    """How an error ends a case: what cannot run is skipped, what broke is failed."""
    log = "".join(traceback.format_exception(error))
    if isinstance(error, Unsupported):
        return Outcome(status=Status.SKIPPED, reason=error.reason, remedy=error.remedy, log=log)
    package = (getattr(error, "name", None) or "modeldyno").partition(".")[0]
    if isinstance(error, ModuleNotFoundError) and package != "modeldyno":
        reason = f"the package {package} is not installed"
        return Outcome(status=Status.SKIPPED, reason=reason, remedy=f"pip install {package}", log=log)
    if is_out_of_memory(error):
        told = ". ".join(_first_line(error).split(". ")[:2])  # what follows is a report on the allocator
        reason = f"out of memory: {told}"
        remedy = "use a smaller --batch or --precision"
        return Outcome(status=Status.FAILED, reason=reason, remedy=remedy, log=log, out_of_memory=True)
    if isinstance(error, InputError):
        return Outcome(status=Status.FAILED, reason=str(error), log=log)
    reason = f"{type(error).__name__}: {_first_line(error)}"
    return Outcome(
        status=Status.FAILED, reason=reason, remedy=f"see the log: dyno show --log --model {case.model}", log=log
    )


def _first_line(error: Exception) -> str:
    return (str(error).strip().splitlines() or ["no message"])[0][:300]


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
