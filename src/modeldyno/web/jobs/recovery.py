"""What to do with jobs that a server which is gone left running."""

from __future__ import annotations

import contextlib
import os
import signal
import sqlite3
from collections.abc import Iterable, Iterator

import psutil

from modeldyno.web.jobs.queue import Queue, end, job_row
from modeldyno.web.jobs.types import Job, State

PATIENCE_S = 15.0
"""A job's process notices that its server is gone and needs a moment to put away what it measured."""
_SAME_S = 1.0
"""Two processes of one number do not start within so little time."""


def recover(queue: Queue) -> list[Job]:
    """Such jobs become interrupted, or cancelled where that was asked for. Only for who has the queue for itself."""
    with queue.database.reading() as connection:
        rows = connection.execute("SELECT * FROM jobs WHERE state = ?", [State.RUNNING]).fetchall()
    if not rows:
        return []
    _wait_for(list(_alive(rows)))
    with queue.database.writing() as connection:
        events = []
        for row in rows:
            state = State(row["wanted"] or State.INTERRUPTED)
            events += end(connection, row["job_id"], state, "the server ended while the job was running")
        jobs = [job_row(connection, row["job_id"]) for row in rows]
    queue.tell(events)
    return jobs


def _alive(rows: Iterable[sqlite3.Row]) -> Iterator[psutil.Process]:
    for row in rows:
        with contextlib.suppress(psutil.Error):
            process = psutil.Process(row["process"]) if row["process"] else None
            if process and abs(process.create_time() - row["process_started"]) < _SAME_S:
                yield process


def _wait_for(processes: list[psutil.Process]) -> None:
    """Nothing else may begin on their devices before they are gone."""
    _, stubborn = psutil.wait_procs(processes, timeout=PATIENCE_S)
    for process in stubborn:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)  # each leads a session of its own
    psutil.wait_procs(stubborn, timeout=PATIENCE_S)
