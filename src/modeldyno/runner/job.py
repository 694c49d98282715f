"""The words between the runner and its worker: one job in, events out as JSON lines."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, TypeAdapter

from modeldyno.core.policy import Policy
from modeldyno.core.types import Case, Frozen, Outcome


class Job(Frozen):
    """Cases that share one loaded model, for one fresh process."""

    cases: tuple[Case, ...]
    policy: Policy
    process: int = 0
    prepare: bool = False
    """Only prepare the cases; a measuring process comes after."""
    trial: bool = False
    """Only see whether they fit."""


class Started(Frozen):
    event: Literal["started"] = "started"
    case: int
    """Position in the job."""


class Note(Frozen):
    event: Literal["note"] = "note"
    text: str


class Turn(Frozen):
    """The samples of one turn; none when the worker is loaded and warm and waits for its first."""

    event: Literal["turn"] = "turn"
    samples_ms: tuple[float, ...] = ()


class Finished(Frozen):
    event: Literal["finished"] = "finished"
    case: int
    outcome: Outcome


Event = Started | Note | Turn | Finished
EVENT: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="event")])
