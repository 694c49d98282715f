"""Starts the jobs that wait, by priority and age, as the devices they need are free."""

from __future__ import annotations

import fcntl
import os
import threading
import time
from collections.abc import Iterator

from modeldyno.core.errors import DynoError, InputError
from modeldyno.web.jobs import journal
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.recovery import recover
from modeldyno.web.jobs.running import GRACE_S, Running
from modeldyno.web.jobs.types import Event, EventKind, Job, State

LOOK_S = 5.0
"""How often to look at what another process may have changed; what this one changes is known at once."""
NO_DEVICE = "none"
"""What jobs that need no device take instead, so that they too run one after another."""
_MATTERS = (EventKind.QUEUED, EventKind.STOPPING, EventKind.END)


class Dispatcher:
    """One for each store. Building one touches nothing; after `start` a thread works until `stop`."""

    def __init__(self, queue: Queue) -> None:
        self.problem: str | None = None
        """What keeps the queue from being worked off at present."""
        self._queue = queue
        self._running: dict[str, Running] = {}
        self._stillborn: dict[str, str] = {}
        """Claimed jobs that could not be started, and why, until that is written down."""
        self._wake, self._stopping = threading.Event(), threading.Event()
        self._lock: int | None = None
        self._thread = threading.Thread(target=self._work, name="dispatcher", daemon=True)
        queue.listen(self._notice)

    def start(self) -> list[Job]:
        """Returns the jobs that an earlier server left running: they are interrupted now."""
        self._lock = self._lock_queue()
        try:
            left = recover(self._queue)
        except BaseException:
            os.close(self._lock)
            raise
        self._thread.start()
        return left

    def stop(self) -> None:
        """Running jobs are asked to end, and are interrupted; what they measured is kept."""
        if self._lock is None:
            return
        self._stopping.set()
        self._wake.set()
        self._thread.join()
        os.close(self._lock)
        self._lock = None

    def _notice(self, event: Event) -> None:
        if event.kind in _MATTERS:
            self._wake.set()

    def _lock_queue(self) -> int:
        self._queue.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._queue.folder / "dispatcher.lock", os.O_RDWR | os.O_CREAT, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(descriptor)
            raise InputError(
                f"Another server carries out the jobs of {self._queue.store_path}; stop it, or start this one "
                "with --no-jobs."
            ) from None
        return descriptor

    def _work(self) -> None:
        while not self._stopping.is_set():
            try:
                self._turn()
                self.problem = None
            except Exception as error:  # noqa: BLE001 - the next turn may do better, and none would be silence
                self.problem = str(error) if isinstance(error, DynoError) else f"{type(error).__name__}: {error}"
            self._wake.wait(self._patience())
            self._wake.clear()
        self._end_all()

    def _turn(self) -> None:
        for job_id in [job_id for job_id, running in self._running.items() if running.is_over]:
            del self._running[job_id]
        for job_id, state in journal.asked_to_end(self._queue).items() if self._running else ():
            if job_id in self._running:
                self._running[job_id].stop(state)
        for running in self._running.values():
            running.kill_if_due()
        self._bury()
        for job in self._ready():
            self._begin(job)

    def _patience(self) -> float:
        now = time.monotonic()
        return min([LOOK_S, *(max(0.05, r.kill_at - now) for r in self._running.values() if r.kill_at)])

    def _ready(self) -> Iterator[Job]:
        """Jobs whose devices are free. One that waits keeps them from those after it, else it might wait for ever."""
        taken = {device for running in self._running.values() for device in _taken_by(running.job)}
        for job in self._queue.waiting():
            wanted = _taken_by(job)
            if taken.isdisjoint(wanted):
                yield job
            taken |= wanted

    def _begin(self, job: Job) -> None:
        claimed = journal.claim(self._queue, job.job_id)
        if claimed is None:  # cancelled in this very moment
            return
        try:
            self._running[job.job_id] = Running(self._queue, claimed, self._wake.set)
        except Exception as error:  # noqa: BLE001 - whatever it was, nobody would end the job
            what = str(error) or type(error).__name__
            self._stillborn[job.job_id] = f"its process could not be started: {what.rstrip('.')}; resume it later"
            self._bury()

    def _bury(self) -> None:
        """Where that cannot be written now, the next turn tries again."""
        for job_id, reason in list(self._stillborn.items()):
            journal.finish(self._queue, job_id, State.FAILED, reason)
            del self._stillborn[job_id]

    def _end_all(self) -> None:
        for running in self._running.values():
            running.stop(State.INTERRUPTED)
        deadline = time.monotonic() + GRACE_S
        for running in self._running.values():
            running.join(max(0.0, deadline - time.monotonic()))
        for running in self._running.values():
            running.kill_if_due()
        for running in self._running.values():
            running.join(GRACE_S)


def _taken_by(job: Job) -> set[str]:
    return set(job.devices) or {NO_DEVICE}
