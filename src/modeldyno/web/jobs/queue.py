"""The queue of jobs: it is all in the server's SQLite file, so that it is there again after a restart."""

from __future__ import annotations

import json
import sqlite3
import threading
from collections.abc import Callable, Iterable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from modeldyno.core.errors import JobError
from modeldyno.core.identity import new_id
from modeldyno.web.jobs.database import Database
from modeldyno.web.jobs.devices import needed
from modeldyno.web.jobs.log import JobLog
from modeldyno.web.jobs.order import Order, cases_of
from modeldyno.web.jobs.types import Alert, Event, EventKind, Job, State, UnknownJob, WrongState

MOST_WAITING = 1000
URGENT = 100
"""Priorities go from minus this to this."""
_FINISHABLE = (State.INTERRUPTED, State.FAILED, State.CANCELLED)
Listener = Callable[[Event], None]
Happening = tuple[EventKind, dict[str, Any]]


class Queue:
    """What people and pages ask of the jobs. Building one touches nothing."""

    def __init__(self, store_path: Path) -> None:
        self.store_path = store_path
        self.database = Database(store_path.with_name(store_path.name + ".server.sqlite"))
        self.folder = store_path.with_name(store_path.name + ".jobs")
        self._listeners: list[Listener] = []
        self._lock = threading.Lock()

    def listen(self, listener: Listener) -> None:
        """Have every event of this process told, after it is durable; the listener must neither block nor raise."""
        with self._lock:
            self._listeners.append(listener)

    def submit(self, order: Order, who: str, priority: int = 0) -> Job:
        """A new job; InputError for an order that is not for the web or names what is not there."""
        cases = cases_of(order)
        devices = json.dumps(needed(cases))
        job_id = new_id()
        with self.database.writing() as connection:
            waiting = connection.execute("SELECT count(*) FROM jobs WHERE state = ?", [State.QUEUED]).fetchone()[0]
            if waiting >= MOST_WAITING:
                raise JobError(f"{waiting} jobs wait already; cancel some of them, or try again later.")
            connection.execute(
                """INSERT INTO jobs (job_id, state, priority, who, created_at, title, "order", devices, run_id,
                    cases_total) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)""",
                [job_id, State.QUEUED, max(-URGENT, min(URGENT, priority)), who, _now(), order.name,
                 order.model_dump_json(), devices, new_id(), len(cases)],
            )  # fmt: skip
            events = append(connection, job_id, [(EventKind.QUEUED, {"who": who})])
        self.tell(events)
        return self.get(job_id)

    def get(self, job_id: str) -> Job:
        with self.database.reading() as connection:
            return job_row(connection, job_id)

    def jobs(self, states: Sequence[State] = (), limit: int = 50, before: str | None = None) -> list[Job]:
        """The newest first; `before` is the job that the page before ended with."""
        wanted = list(states) or list(State)
        marks = ", ".join("?" * len(wanted))
        with self.database.reading() as connection:
            rows = connection.execute(
                f"SELECT * FROM jobs WHERE state IN ({marks}) AND job_id < ? ORDER BY job_id DESC LIMIT ?",
                [*wanted, before or "~", max(1, min(limit, 1000))],
            ).fetchall()
        return [_job(row) for row in rows]

    def waiting(self) -> list[Job]:
        """What is to run, in the order in which it is to run."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM jobs WHERE state = ? ORDER BY priority DESC, job_id", [State.QUEUED]
            ).fetchall()
        return [_job(row) for row in rows]

    def counts(self) -> dict[State, int]:
        """How many jobs stand where, without reading them."""
        with self.database.reading() as connection:
            found = dict(connection.execute("SELECT state, count(*) FROM jobs GROUP BY state").fetchall())
        return {state: found.get(state.value, 0) for state in State}

    def cancel(self, job_id: str, who: str = "") -> Job:
        """A job that waits is cancelled at once; one that runs is told to end, and keeps what it measured."""
        with self.database.writing() as connection:
            job = job_row(connection, job_id)
            if job.state.is_over:
                raise WrongState(f"The job is {job.state} already; there is nothing to cancel.")
            events: list[Event] = []
            if job.state is State.QUEUED:
                reason = f"cancelled by {who}" if who else "cancelled"
                events = end(connection, job_id, State.CANCELLED, reason)
            else:
                connection.execute("UPDATE jobs SET wanted = ? WHERE job_id = ?", [State.CANCELLED, job_id])
                events = append(connection, job_id, [(EventKind.STOPPING, {"who": who})])
        self.tell(events)
        return self.get(job_id)

    def resume(self, job_id: str, who: str = "") -> Job:
        """Back into the queue, with the same run: only cases without a record will be measured."""
        devices = json.dumps(needed(cases_of(self.get(job_id).order)))
        with self.database.writing() as connection:
            job = job_row(connection, job_id)
            if job.state not in _FINISHABLE:
                raise WrongState(f"The job is {job.state}; only one that did not end well can be resumed.")
            connection.execute(
                """UPDATE jobs SET state = ?, wanted = NULL, reason = NULL, ended_at = NULL, devices = ?
                    WHERE job_id = ?""",
                [State.QUEUED, devices, job_id],
            )
            events = append(connection, job_id, [(EventKind.QUEUED, {"who": who, "resumed": True})])
        self.tell(events)
        return self.get(job_id)

    def rerun(self, job_id: str, who: str) -> Job:
        """A new job of the same order."""
        job = self.get(job_id)
        return self.submit(job.order, who, job.priority)

    def events(self, job_id: str, after: int = 0, limit: int = 1000) -> list[Event]:
        """What happened to a job after the event of this number."""
        with self.database.reading() as connection:
            job_row(connection, job_id)
            rows = connection.execute(
                "SELECT * FROM job_events WHERE job_id = ? AND number > ? ORDER BY number LIMIT ?",
                [job_id, after, limit],
            ).fetchall()
        return [Event.model_validate({**dict(row), "data": json.loads(row["data"])}) for row in rows]

    def log(self, job_id: str) -> JobLog:
        return JobLog(self.folder / f"{self.get(job_id).job_id}.log")

    def alerts(self, unseen: bool = False, limit: int = 100) -> list[Alert]:
        """The newest first."""
        with self.database.reading() as connection:
            rows = connection.execute(
                "SELECT * FROM alerts WHERE seen_at IS NULL OR NOT ? ORDER BY alert_id DESC LIMIT ?", [unseen, limit]
            ).fetchall()
        return [_alert(row) for row in rows]

    def unseen(self) -> int:
        """How many alerts nobody has seen."""
        with self.database.reading() as connection:
            found: int = connection.execute("SELECT count(*) FROM alerts WHERE seen_at IS NULL").fetchone()[0]
        return found

    def acknowledge(self, alert_id: str, who: str) -> Alert:
        """Someone has seen it; the first one counts."""
        with self.database.writing() as connection:
            connection.execute(
                "UPDATE alerts SET seen_by = ?, seen_at = ? WHERE alert_id = ? AND seen_at IS NULL",
                [who, _now(), alert_id],
            )
            row = connection.execute("SELECT * FROM alerts WHERE alert_id = ?", [alert_id]).fetchone()
            if row is None:
                raise UnknownJob(f"There is no alert {alert_id[:40]}; the page of alerts lists them.")
            return _alert(row)

    def tell(self, events: Iterable[Event]) -> None:
        """Hand durable events to the listeners."""
        with self._lock:
            listeners = tuple(self._listeners)
        for event in events:
            for listener in listeners:
                listener(event)


def job_row(connection: sqlite3.Connection, job_id: str) -> Job:
    row = connection.execute("SELECT * FROM jobs WHERE job_id = ?", [job_id]).fetchone()
    if row is None:
        raise UnknownJob(f"There is no job {job_id[:40]}; the page of jobs lists them.")
    return _job(row)


def append(connection: sqlite3.Connection, job_id: str, happenings: Iterable[Happening]) -> list[Event]:
    """Events of a job in their order, inside of the transaction that changes it."""
    last = connection.execute("SELECT max(number) FROM job_events WHERE job_id = ?", [job_id]).fetchone()[0] or 0
    at = datetime.now(UTC)
    events = [
        Event(job_id=job_id, number=number, at=at, kind=kind, data=data)
        for number, (kind, data) in enumerate(happenings, last + 1)
    ]
    connection.executemany(
        "INSERT INTO job_events VALUES (?, ?, ?, ?, ?)",
        [(job_id, event.number, event.at.isoformat(), event.kind, json.dumps(event.data)) for event in events],
    )
    return events


def end(connection: sqlite3.Connection, job_id: str, state: State, reason: str | None) -> list[Event]:
    """The job is over, for now."""
    connection.execute(
        """UPDATE jobs SET state = ?, reason = ?, ended_at = ?, wanted = NULL, process = NULL, process_started = NULL
            WHERE job_id = ?""",
        [state, reason, _now(), job_id],
    )
    return append(connection, job_id, [(EventKind.END, {"state": state.value, "reason": reason})])


def _now() -> str:
    return datetime.now(UTC).isoformat()


def _job(row: sqlite3.Row) -> Job:
    told = {name: row[name] for name in Job.model_fields}
    return Job.model_validate(
        told | {"order": Order.model_validate_json(row["order"]), "devices": json.loads(row["devices"])}
    )


def _alert(row: sqlite3.Row) -> Alert:
    return Alert.model_validate({name: row[name] for name in Alert.model_fields})
