"""Runs jobs in processes of their own: a crash, an out-of-memory kill or a hang ends one case, never the run."""

from __future__ import annotations

import contextlib
import os
import select
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from typing import IO

from pydantic import ValidationError

from modeldyno.core.types import Case, Outcome, Status
from modeldyno.runner.job import EVENT, Finished, Job, Note, Started
from modeldyno.runner.processes import Ends, Processes

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
    with tempfile.TemporaryFile() as log, _Worker(job, processes, log) as worker:
        try:
            for event in worker.events(timeout_s):
                if isinstance(event, Started):
                    current = event.case
                    on_note(job.cases[current], "starting")
                elif isinstance(event, Note):
                    on_note(job.cases[current], event.text)
                else:
                    current = event.case + 1
                    yield job.cases[event.case], event.outcome
                    if current == len(job.cases):
                        return  # whatever it still does, all is said
        except ValidationError as error:
            reason = f"the worker's answer cannot be read: {error.errors()[0]['msg']}"
            yield job.cases[current], _failed(reason, "mend the workload", log)
            return
        except TimeoutError:
            worker.kill()
            reason = f"no result within {timeout_s:g} s: killed"
            yield job.cases[current], _failed(reason, "raise --timeout or use a smaller model", log)
            return
        yield job.cases[current], _failed(*_describe_exit(worker.wait()), log)


class _Worker:
    """One worker process, its event pipe, and the duty to leave no process behind."""

    def __init__(self, job: Job, processes: Processes, log: IO[bytes]) -> None:
        self._ended = False
        job_reader, job_writer = os.pipe()
        self._reader, events = os.pipe()
        with os.fdopen(job_writer, "wb") as text:
            try:
                self._process = processes.start(job, Ends(job_reader, events, log.fileno()))
            finally:
                os.close(job_reader)
                os.close(events)
            with contextlib.suppress(BrokenPipeError):  # it died at once; the empty event pipe will tell
                text.write(job.model_dump_json().encode())
                text.flush()

    def __enter__(self) -> _Worker:
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        os.close(self._reader)

    def events(self, timeout_s: float) -> Iterator[Started | Note | Finished]:
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
                if not isinstance(event, Note):
                    deadline = time.monotonic() + timeout_s
                yield event

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


def _describe_exit(code: int) -> tuple[str, str]:
    """What killed the worker, and the remedy."""
    if code == -signal.SIGKILL:
        return "the worker was killed (SIGKILL), most likely out of memory", "use a smaller --batch or model"
    if code < 0:
        name = signal.Signals(-code).name
        return f"the worker crashed ({name})", "see the log: dyno show --log"
    return f"the worker ended without a result (exit code {code})", "see the log: dyno show --log"


def _failed(reason: str, remedy: str, log: IO[bytes]) -> Outcome:
    size = log.seek(0, os.SEEK_END)
    log.seek(max(0, size - LOG_TAIL))
    text = log.read().decode(errors="replace").strip()
    return Outcome(status=Status.FAILED, reason=reason, remedy=remedy, log=text or None)
