"""The words between the server and a job's process: one task in, messages out as JSON lines."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from modeldyno.core.types import Frozen, Record, Status
from modeldyno.web.jobs.order import Order
from modeldyno.web.jobs.types import AlertKind, EventKind, State

LATENCY = "latency_ms"


class Task(Frozen):
    """One attempt at a job."""

    job_id: str
    run_id: str
    attempt: int
    store: Path
    order: Order


class Planned(Frozen):
    kind: Literal[EventKind.PLAN] = EventKind.PLAN
    total: int
    left: int
    """Cases that get their record in this attempt."""
    runnable: int
    kept: dict[Status, int] = {}
    """Records of earlier attempts, by status."""


class Noted(Frozen):
    kind: Literal[EventKind.NOTE] = EventKind.NOTE
    case: str
    process: int
    text: str


class Recorded(Frozen):
    kind: Literal[EventKind.RECORD] = EventKind.RECORD
    record_id: str
    case: str
    case_key: str
    status: Status
    latency_ms: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str | None = None

    @classmethod
    def of(cls, record: Record) -> Recorded:
        latency = record.metrics.get(LATENCY)
        return cls(
            record_id=record.record_id,
            case=record.case.label,
            case_key=record.case.key,
            status=record.status,
            latency_ms=latency.value if latency else None,
            low=latency.low if latency else None,
            high=latency.high if latency else None,
            reason=record.reason,
        )


class Warned(Frozen):
    kind: Literal[EventKind.WARNING] = EventKind.WARNING
    text: str


class Alarmed(Frozen):
    kind: Literal[EventKind.ALERT] = EventKind.ALERT
    alert: AlertKind
    about: str
    """Of the same job only one alert of a kind is about the same thing."""
    text: str


class Ended(Frozen):
    kind: Literal[EventKind.END] = EventKind.END
    state: State
    reason: str | None = None


Message = Planned | Noted | Recorded | Warned | Alarmed | Ended
MESSAGE: TypeAdapter[Message] = TypeAdapter(Annotated[Message, Field(discriminator="kind")])
