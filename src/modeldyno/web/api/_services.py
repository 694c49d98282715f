"""What the API answers beside results, as its description shows it."""

from __future__ import annotations

from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from modeldyno.web.api._shapes import Shape


class ReportKind(Shape):
    kind: str
    title: str
    about: str
    subject: str | None = Field(description="What has to be named: a model or a run.")


class PredictionShape(BaseModel):
    """One way to run the model; the figure is in `ms_per_item`, or in a field of the metric's name."""

    model_config = ConfigDict(extra="allow")
    device: str
    platform: str
    runtime: str
    precision: str
    setting: str
    version: str
    low: float | None
    high: float | None
    distance: str
    evidence: str
    why_not: str | None


class Predictions(Shape):
    model: str
    batch: int
    metric: str
    predictions: list[PredictionShape]
    stale: bool = Field(description="Whether results have come since the predictor was trained.")


class Advice(BaseModel):
    """As `dyno recommend --json` has it."""

    model_config = ConfigDict(extra="allow")
    model: str
    workload: str
    goal: str
    choice: dict[str, Any] | None
    candidates: list[dict[str, Any]]
    says: list[str]
    predicted: bool = Field(description="Whether predictions take part: only where a predictor is up to date.")


class SqlAnswer(Shape):
    columns: list[str]
    rows: list[list[Any]]
    more: bool = Field(description="Whether there are rows beyond the limit.")


class Taken(Shape):
    """What came of sending results; all of it is durable."""

    records: int
    new: int = Field(description="Records that were not there before.")
    known: int = Field(description="Records that were there already, by their id.")
    runs: int
    others: int = Field(description="Test results and imports.")


class Made(Shape):
    kind: str
    name: str
    text: str
    notes: list[str]


class AcknowledgementShape(Shape):
    series_id: str
    record_id: str = Field(description="The first of the level that got worse.")
    text: str
    who: str
    at: AwareDatetime


class PlanRow(BaseModel):
    """A row in the plan's columns."""

    model_config = ConfigDict(extra="allow")
