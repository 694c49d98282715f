"""The words of the queue as frozen types: job, event, alert, and what can be wrong with asking for them."""

from __future__ import annotations

from datetime import datetime
from enum import StrEnum
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.core.types import Frozen
from modeldyno.web.jobs.order import Order


class State(StrEnum):
    """Where a job stands."""

    QUEUED = "queued"
    RUNNING = "running"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    INTERRUPTED = "interrupted"

    @property
    def is_over(self) -> bool:
        """Whether nothing more happens unless someone asks for it."""
        return self not in (State.QUEUED, State.RUNNING)


class Job(Frozen):
    """An order and what became of it."""

    job_id: str
    state: State
    priority: int
    """The highest goes first."""
    who: str
    created_at: datetime
    started_at: datetime | None
    """Of the newest attempt."""
    ended_at: datetime | None
    title: str
    order: Order
    devices: tuple[str, ...]
    """What it needs for itself alone; none where nothing of it can run here."""
    run_id: str
    """All attempts add their records to this run."""
    attempt: int
    """How often it was started."""
    cases_total: int
    cases_done: int
    ok: int
    failed: int
    skipped: int
    invalid: int
    reason: str | None
    """Why it ended as it did, where that needs words."""


class EventKind(StrEnum):
    """What can happen to a job."""

    QUEUED = "queued"
    STARTED = "started"
    PLAN = "plan"
    NOTE = "note"
    RECORD = "record"
    WARNING = "warning"
    ALERT = "alert"
    STOPPING = "stopping"
    END = "end"


class Event(Frozen):
    """Something that happened to a job; numbers count from 1 for each job."""

    job_id: str
    number: int
    at: datetime
    kind: EventKind
    data: dict[str, Any]


class AlertKind(StrEnum):
    """Why someone should look."""

    FAILURE = "failure"
    OUTLIER = "outlier"
    REGRESSION = "regression"


class Alert(Frozen):
    """A sentence for someone to read, until someone says they did."""

    alert_id: str
    at: datetime
    job_id: str
    kind: AlertKind
    text: str
    seen_by: str | None
    seen_at: datetime | None


class UnknownJob(InputError):
    """No such job or alert."""

    status = 404


class WrongState(InputError):
    """The job is there, but that cannot be done with it now."""

    status = 409
