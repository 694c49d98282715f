"""What becomes of a running job, written down: its state, its counts, its events and its alerts."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime

from modeldyno.core.identity import new_id
from modeldyno.core.types import Status
from modeldyno.web.jobs.messages import Alarmed, Ended, Message, Planned, Recorded
from modeldyno.web.jobs.queue import Happening, Queue, append, end, job_row
from modeldyno.web.jobs.types import AlertKind, EventKind, Job, State

MOST_ALERTS = 20
"""Of one job; what goes wrong in the same way five hundred times is told once more, and then no more."""


def claim(queue: Queue, job_id: str) -> Job | None:
    """The job as running; None where it does not wait any more."""
    with queue.database.writing() as connection:
        done = connection.execute(
            "UPDATE jobs SET state = ?, started_at = ?, attempt = attempt + 1 WHERE job_id = ? AND state = ?",
            [State.RUNNING, datetime.now(UTC).isoformat(), job_id, State.QUEUED],
        )
        if not done.rowcount:
            return None
        job = job_row(connection, job_id)
        events = append(connection, job_id, [(EventKind.STARTED, {"attempt": job.attempt})])
    queue.tell(events)
    return job


def keep_process(queue: Queue, job_id: str, process: int, started: float) -> None:
    """By number and moment of its start, which no other process shares."""
    with queue.database.writing() as connection:
        connection.execute(
            "UPDATE jobs SET process = ?, process_started = ? WHERE job_id = ?", [process, started, job_id]
        )


def asked_to_end(queue: Queue) -> dict[str, State]:
    """Running jobs that someone wants ended, and as what."""
    with queue.database.reading() as connection:
        rows = connection.execute(
            "SELECT job_id, wanted FROM jobs WHERE state = ? AND wanted IS NOT NULL", [State.RUNNING]
        ).fetchall()
    return {row["job_id"]: State(row["wanted"]) for row in rows}


def absorb(queue: Queue, job_id: str, messages: Iterable[Message]) -> None:
    """What the job's process told, all in one transaction."""
    with queue.database.writing() as connection:
        happenings = [happening for message in messages for happening in _happenings(connection, job_id, message)]
        events = append(connection, job_id, happenings)
    queue.tell(events)


def finish(queue: Queue, job_id: str, state: State, reason: str | None) -> None:
    with queue.database.writing() as connection:
        job = job_row(connection, job_id)
        if job.state is not State.RUNNING:
            return
        events = []
        if state is State.FAILED:
            text = f"The job '{job.title}' failed: {reason}"
            alarm = Alarmed(alert=AlertKind.FAILURE, about=f"attempt {job.attempt}", text=text)
            events = append(connection, job_id, _alarm(connection, job_id, alarm))
        events += end(connection, job_id, state, reason)
    queue.tell(events)


def _happenings(connection: sqlite3.Connection, job_id: str, message: Message) -> Iterator[Happening]:
    if isinstance(message, Alarmed):
        yield from _alarm(connection, job_id, message)
        return
    if isinstance(message, Ended):
        return  # the end is when the process is gone
    yield message.kind, message.model_dump(mode="json", exclude={"kind"})
    if isinstance(message, Planned):
        _begin_counts(connection, job_id, message)
    if isinstance(message, Recorded):
        status = message.status.value
        connection.execute(
            f"UPDATE jobs SET cases_done = cases_done + 1, {status} = {status} + 1 WHERE job_id = ?", [job_id]
        )
        if message.status in (Status.FAILED, Status.INVALID):
            text = f"{message.case} is {status}: {message.reason}"
            yield from _alarm(
                connection, job_id, Alarmed(alert=AlertKind.FAILURE, about=f"case {message.case_key}", text=text)
            )


def _begin_counts(connection: sqlite3.Connection, job_id: str, plan: Planned) -> None:
    """From the store, which is right also where the server was killed before it wrote down what it heard."""
    kept = [plan.kept.get(status, 0) for status in (Status.OK, Status.FAILED, Status.SKIPPED, Status.INVALID)]
    connection.execute(
        """UPDATE jobs SET cases_total = ?, cases_done = ?, ok = ?, failed = ?, skipped = ?, invalid = ?
            WHERE job_id = ?""",
        [plan.total, sum(kept), *kept, job_id],
    )


def _alarm(connection: sqlite3.Connection, job_id: str, alarm: Alarmed) -> list[Happening]:
    """An alert, unless there is one about the same or too many already."""
    given = connection.execute("SELECT count(*) FROM alerts WHERE job_id = ?", [job_id]).fetchone()[0]
    if given >= MOST_ALERTS and not alarm.about.startswith("attempt"):
        alarm = Alarmed(alert=alarm.alert, about="more", text="More went wrong in this job; its page lists all of it.")
    alert_id = new_id()
    done = connection.execute(
        """INSERT OR IGNORE INTO alerts (alert_id, at, job_id, kind, about, text) VALUES (?, ?, ?, ?, ?, ?)""",
        [alert_id, datetime.now(UTC).isoformat(), job_id, alarm.alert, alarm.about, alarm.text],
    )
    told = {"alert_id": alert_id, "alert": alarm.alert.value, "text": alarm.text}
    return [(EventKind.ALERT, told)] if done.rowcount else []
