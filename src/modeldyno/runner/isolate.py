"""Runs jobs in processes of their own: a crash, an out-of-memory kill or a hang ends one case, never the run."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import IO

from pydantic import ValidationError

from modeldyno.core.types import Case, Outcome, Status
from modeldyno.runner.job import EVENT, Event, Finished, Job, Note, Started
from modeldyno.runner.processes import Ends, Process, Processes

LOG_TAIL = 4000
OnNote = Callable[[Case, str], None]


def run_job(job: Job, processes: Processes, timeout_s: float, on_note: OnNote) -> Iterator[tuple[Case, Outcome]]:
    """Outcomes of the job's cases, in order; after a crash the rest go on in a new worker."""
    remaining = job.cases
    while remaining:
        done = 0
        rest = job.model_copy(update={"cases": remaining})
        for case, outcome in _one_worker(rest, processes, timeout_s, on_note):
            yield case, outcome
            done += 1
        remaining = remaining[done:]


def _one_worker(job: Job, processes: Processes, timeout_s: float, on_note: OnNote) -> Iterator[tuple[Case, Outcome]]:
    """Outcomes until the worker ends; a case in which it dies or hangs gets a failed outcome and is the last."""
    current = 0
    with tempfile.TemporaryFile() as log, Worker(job, partial(processes.start, job), log) as worker:
        try:
            for event in worker.events(timeout_s):
                if isinstance(event, Started):
                    current = event.case
                    on_note(job.cases[current], "starting")
                elif isinstance(event, Note):
                    on_note(job.cases[current], event.text)
                elif isinstance(event, Finished):
                    current = event.case + 1
                    yield job.cases[event.case], event.outcome
                    if current == len(job.cases):
                        return  # whatever it still does, all is said
        except ValidationError as error:
            reason = f"the worker's answer cannot be read: {error.errors()[0]['msg']}"
            yield job.cases[current], failed(reason, "mend the workload", log)
            return
        except TimeoutError:
            worker.kill()
            reason = f"no result within {timeout_s:g} s: killed"
            yield job.cases[current], failed(reason, "raise --timeout or use a smaller model", log)
            return
        code = worker.wait()
        outcome = failed(*describe_exit(code), log)
        yield job.cases[current], outcome.model_copy(update={"out_of_memory": code == -signal.SIGKILL})


class Worker:
    """One worker process, its pipes, and the duty to leave no process behind."""

    def __init__(self, job: Job, start: Callable[[Ends], Process], log: IO[bytes], in_turns: bool = False) -> None:
        self._ended = False
        job_reader, job_writer = os.pipe()
        self._reader, events = os.pipe()
        self._turns: int | None = None
        turns: int | None = None
        if in_turns:
            turns, self._turns = os.pipe()
        with os.fdopen(job_writer, "wb") as text:
            try:
                self._process = start(Ends(job_reader, events, log.fileno(), turns))
            except BaseException:
                _close(self._reader, self._turns)
                raise
            finally:
                _close(job_reader, events, turns)
            with contextlib.suppress(BrokenPipeError):  # it died at once; the empty event pipe will tell
                text.write(job.model_dump_json().encode())
                text.flush()

    def __enter__(self) -> Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        _close(self._reader, self._turns)

    def turn(self, seconds: float | None) -> None:
        """Let it sample for so long; None: that was its last turn."""
        if self._turns is None:
            return
        if seconds is None:
            os.close(self._turns)
            self._turns = None
            return
        with contextlib.suppress(BrokenPipeError):  # it died; the end of its events will tell
            os.write(self._turns, b"%f\n" % seconds)

    def events(self, timeout_s: float) -> Iterator[Event]:
        """Events as they come; the parent blocks meanwhile. The deadline starts anew with every case."""
        pending = b""
        deadline = time.monotonic() + timeout_s
        while True:
            ready, _, _ = select.select([self._reader], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                raise TimeoutError
            chunk = os.read(self._reader, 1 << 20)
            if not chunk:
                return
            *lines, pending = (pending + chunk).split(b"\n")
            for line in lines:
                event = EVENT.validate_json(line)
                yield event
                if not isinstance(event, Note):  # a worker that only talks is not at work
                    deadline = time.monotonic() + timeout_s  # now: who listens may have been busy with other workers

    def wait(self) -> int:
        code = self._process.wait()
        self._ended = True
        return code

    def kill(self) -> None:
        """The whole process group: a worker may have started browsers or ranks."""
        if self._ended:
            return
        for end in (os.killpg, os.kill):  # alone, too: it may not have become a group yet
            with contextlib.suppress(ProcessLookupError, PermissionError):  # macOS: the group is a zombie
                end(self._process.pid, signal.SIGKILL)
        self.wait()


def _close(*descriptors: int | None) -> None:
    for descriptor in descriptors:
        if descriptor is not None:
            os.close(descriptor)


def describe_exit(code: int) -> tuple[str, str]:
    """What killed the worker, and the remedy."""
    if code == -signal.SIGKILL:
        return "the worker was killed (SIGKILL), most likely out of memory", "use a smaller --batch or model"
    if code < 0:
        name = signal.Signals(-code).name
        return f"the worker crashed ({name})", "see the log: dyno show --log"
    return f"the worker ended without a result (exit code {code})", "see the log: dyno show --log"


def failed(reason: str, remedy: str, log: IO[bytes]) -> Outcome:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - LOG_TAIL))
    text = log.read().decode(errors="replace").strip()
    return Outcome(status=Status.FAILED, reason=reason, remedy=remedy, log=text or None)
