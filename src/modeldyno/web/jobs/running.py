"""A job at work, as the server sees it: its process, what that tells, and how it is made to end."""

from __future__ import annotations

import contextlib
import os
import selectors
import signal
import subprocess
import sys
import threading
import time
import traceback
from collections.abc import Callable

import psutil
from pydantic import ValidationError

from modeldyno.core.errors import DynoError
from modeldyno.runner.isolate import describe_exit
from modeldyno.web.jobs import journal
from modeldyno.web.jobs.messages import MESSAGE, Ended, Message, Task
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.types import Job, State

GRACE_S = 10.0
"""From being asked to end to being killed."""
GATHER_S = 0.2
"""Messages of so long are written down together."""
RETRY_S = 2.0
"""When the queue could not be written."""
_CHUNK = 1 << 16


class Running:
    """Starts the process of a claimed job, and a thread that listens to it until it is gone."""

    def __init__(self, queue: Queue, job: Job, on_over: Callable[[], None]) -> None:
        self.job = job
        self._queue, self._on_over = queue, on_over
        self._log = queue.log(job.job_id)
        self._wanted: State | None = None
        self._kill_at: float | None = None
        self._ended: Ended | None = None
        self._pending: list[Message] = []
        self._events, theirs = os.pipe()
        try:
            self._process = _start(theirs)
        except BaseException:
            os.close(self._events)
            raise
        finally:
            os.close(theirs)
        self._thread = threading.Thread(target=self._attend, name=f"job-{job.job_id}", daemon=True)
        try:
            self._thread.start()
        except BaseException:
            self._abandon()
            raise

    @property
    def is_over(self) -> bool:
        return not self._thread.is_alive()

    @property
    def kill_at(self) -> float | None:
        """When it has had time enough to end, on the monotonic clock."""
        return self._kill_at

    def stop(self, state: State) -> None:
        """Ask it once to end; what it measured so far is kept."""
        if self._wanted is None:
            self._wanted, self._kill_at = state, time.monotonic() + GRACE_S
            self._signal(signal.SIGINT)

    def kill_if_due(self) -> None:
        if self._kill_at is not None and time.monotonic() >= self._kill_at:
            self._signal(signal.SIGKILL)

    def join(self, timeout_s: float) -> None:
        self._thread.join(timeout_s)

    def _signal(self, number: signal.Signals) -> None:
        if self._process.poll() is None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.pid, number)

    def _abandon(self) -> None:
        """Nobody would listen to the process."""
        self._signal(signal.SIGKILL)
        with self._process:  # closes its pipes and waits for it
            os.close(self._events)

    def _attend(self) -> None:
        words = threading.Thread(target=self._copy_words, name=f"log-{self.job.job_id}", daemon=True)
        try:
            words.start()
            self._hand_over_task()
            self._listen()
            code = self._process.wait()
            words.join(1.0)  # someone else may keep that pipe open
            self._finish(code)
        except Exception as error:  # noqa: BLE001 - a job that nobody listens to must not keep its device
            self._say(traceback.format_exc().encode())
            self._signal(signal.SIGKILL)
            self._ended = Ended(state=State.FAILED, reason=f"Unexpected {type(error).__name__}: {error}; see its log")
            self._finish(self._process.wait())
        finally:
            os.close(self._events)
            if self._process.stdin:
                with contextlib.suppress(BrokenPipeError):
                    self._process.stdin.close()
            self._on_over()

    def _hand_over_task(self) -> None:
        """The pipe stays open: its end is how the process learns that the server is gone."""
        job = self.job
        task = Task(
            job_id=job.job_id, run_id=job.run_id, attempt=job.attempt, store=self._queue.store_path, order=job.order
        )
        with contextlib.suppress(psutil.Error, DynoError):  # without it a restart need not wait for it
            started = psutil.Process(self._process.pid).create_time()
            journal.keep_process(self._queue, job.job_id, self._process.pid, started)
        assert self._process.stdin
        with contextlib.suppress(BrokenPipeError):  # it died at once; the end of its messages will tell
            self._process.stdin.write(task.model_dump_json().encode() + b"\n")
            self._process.stdin.flush()

    def _listen(self) -> None:
        """Messages until their pipe is at its end; those that come together are written down together."""
        rest, due = b"", 0.0
        with selectors.DefaultSelector() as selector:  # select.select takes no descriptor above 1023
            selector.register(self._events, selectors.EVENT_READ)
            while True:
                patience = max(0.0, due - time.monotonic()) if self._pending else None
                if selector.select(patience):
                    chunk = os.read(self._events, _CHUNK)
                    if not chunk:
                        return
                    *lines, rest = (rest + chunk).split(b"\n")
                    due = due if self._pending else time.monotonic() + GATHER_S
                    self._pending += [message for line in lines if (message := self._read(line))]
                if self._pending and time.monotonic() >= due:
                    due = time.monotonic() + (0.0 if self._write_down() else RETRY_S)

    def _copy_words(self) -> None:
        assert self._process.stdout
        with self._process.stdout as words:
            while chunk := os.read(words.fileno(), _CHUNK):
                self._say(chunk)

    def _read(self, line: bytes) -> Message | None:
        try:
            message = MESSAGE.validate_json(line)
        except ValidationError:
            self._say(b"[a message of the job's process cannot be read: %s]\n" % line[:200])
            return None
        self._ended = message if isinstance(message, Ended) else self._ended
        return message

    def _say(self, text: bytes) -> None:
        with contextlib.suppress(OSError):  # a full disk costs words, not the job
            self._log.append(text)

    def _write_down(self) -> bool:
        """Whether it could be; what could not stays for the next time."""
        try:
            journal.absorb(self._queue, self.job.job_id, self._pending)
        except DynoError as error:
            self._say(f"[{error}]\n".encode())
            return False
        self._pending = []
        return True

    def _finish(self, code: int) -> None:
        """Where that cannot be written, the next start finds the job running, and its process gone."""
        for _ in range(5):
            with contextlib.suppress(DynoError):
                if not self._pending or self._write_down():
                    journal.finish(self._queue, self.job.job_id, *self._outcome(code))
                    return
            time.sleep(RETRY_S)

    def _outcome(self, code: int) -> tuple[State, str | None]:
        if self._ended and self._ended.state is not State.INTERRUPTED:
            return self._ended.state, self._ended.reason  # it was done before it heard of anything else
        if self._wanted is State.CANCELLED:
            return State.CANCELLED, "cancelled"
        if self._wanted:
            return self._wanted, "the server was stopped while the job was running"
        if self._ended:
            return self._ended.state, self._ended.reason
        what = describe_exit(code)[0].replace("worker", "job's process")
        return State.FAILED, f"{what}; see its log, and resume it for the cases that are left"


def _start(events: int) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "modeldyno.web.jobs.child", str(events)],  # -P: not what lies in the folder
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        pass_fds=(events,),
        start_new_session=True,  # Ctrl-C is for the server, which ends its jobs itself
    )
