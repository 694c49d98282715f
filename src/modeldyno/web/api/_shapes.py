"""What the API answers, as its description shows it; the routes write JSON themselves and tests hold it to this."""

from __future__ import annotations

from typing import Annotated, Any, Generic, TypeVar

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, create_model

from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Case, Provenance, Status, Verdict
from modeldyno.store.snapshot import VALUES, WITH_INTERVAL

T = TypeVar("T")


class Shape(BaseModel):
    """Nothing but what is described."""

    model_config = ConfigDict(extra="forbid")


class Listing(Shape, Generic[T]):
    """A page of a list."""

    items: list[T]
    next: str | None = Field(description="The cursor of the next page; null at the end.")


class All(Shape, Generic[T]):
    """A list that is given whole."""

    items: list[T]


class Interval(Shape):
    value: float | None
    low: float | None
    high: float | None


class Row(Shape):
    """One record without its samples. A metric that it does not have is left out."""

    record_id: str
    run_id: str
    series_id: str
    case_key: str
    started_at: AwareDatetime
    duration_s: float | None
    status: Status
    provenance: Provenance
    verdict: Verdict | None
    workload: str
    model: str
    family: str | None
    architecture: str | None
    parameters: int | None
    platform: str
    device: str | None
    device_id: str | None
    device_index: int
    emulated: bool
    runtime: str
    precision: str
    batch: int
    shape: dict[str, Any]
    options: dict[str, Any]
    weights: str
    reason: str | None
    remedy: str | None
    effort: str
    commit: str | None
    hostname: str | None


def _metric_fields() -> dict[str, Any]:
    told = {name: f"{METRICS[name].meaning} Unit: {METRICS[name].unit or 'none'}." for name in VALUES}
    told |= {f"{name}_{end}": f"End of the interval of {name}." for name in WITH_INTERVAL for end in ("low", "high")}
    return {name: (Annotated[float | None, Field(description=text)], None) for name, text in told.items()}


RowWithMetrics: Any = create_model("Result", __base__=Row, __doc__=Row.__doc__, **_metric_fields())


class ModelShape(Shape):
    name: str
    id: str | None = Field(description="On Hugging Face.")
    architecture: str | None
    family: str | None
    parameters: int | None
    size: str | None
    catalogue: bool = Field(description="Whether it can be measured by this name.")
    results: int
    ok: int
    platforms: list[str]
    last: AwareDatetime | None


class OnPlatform(Shape):
    platform: str
    results: int
    ok: int
    failed: int
    invalid: int
    skipped: int
    best_id: str | None
    best_ms: float | None = Field(description="Milliseconds of an item.")
    best_per_s: float | None
    last: AwareDatetime
    reason: str | None


class OneModel(ModelShape):
    on: list[OnPlatform]


class Found(Shape):
    platform: str
    index: int
    name: str
    memory_mb: float | None
    driver: str | None
    capability: str | None
    emulated: bool
    details: dict[str, str | int | float | bool]
    fingerprint: str


class PlatformShape(Shape):
    platform: str
    present: bool
    devices: list[Found]
    reason: str | None
    remedy: str | None


class DeviceShape(Shape):
    device_id: str
    platform: str
    name: str
    memory_mb: float | None
    capability: str | None
    emulated: bool
    here: bool = Field(description="Whether this server has one.")
    results: int
    models: int
    last: AwareDatetime | None


class RunShape(Shape):
    run_id: str
    started_at: AwareDatetime
    name: str | None
    command: str
    version: str
    commit: str | None
    effort: str
    import_id: str | None
    host_id: str
    hostname: str | None
    cpu: str | None
    system: str | None
    planned: int | None
    results: int
    ok: int
    failed: int
    invalid: int
    skipped: int
    models: list[str]
    platforms: list[str]
    last: AwareDatetime | None


class SeriesShape(Shape):
    series_id: str
    workload: str
    model: str
    platform: str
    device: str | None
    runtime: str
    precision: str
    batch: int
    shape: dict[str, Any]
    options: dict[str, Any]
    results: int
    first: AwareDatetime
    last: AwareDatetime
    latency_ms: float | None = Field(description="Of the newest.")


class PointShape(Shape):
    record_id: str
    run_id: str
    started_at: AwareDatetime
    status: Status
    provenance: Provenance
    value: float | None
    low: float | None
    high: float | None
    commit: str | None
    host: str
    driver: str | None
    counts: bool = Field(description="Whether it takes part in the analysis.")


class SideShape(Shape):
    run_id: str
    record_id: str
    commit: str | None
    host: str
    host_id: str


class SuspectShape(Shape):
    what: str
    hosts: list[str]


class ChangeShape(Shape):
    started_at: AwareDatetime
    before: SideShape
    after: SideShape
    ratio: Interval | None
    verdict: str
    p_value: float | None
    environment: list[str]
    gone: bool
    alarm: bool
    suspect: SuspectShape | None


class OneSeries(Shape):
    series_id: str
    metric: str
    unit: str
    case: Case
    device: str | None
    provenance: list[Provenance] = Field(description="Of the points that count.")
    points: list[PointShape]
    left_out: int = Field(description="Points that do not count.")
    level: Interval | None
    points_since: int
    alarm: bool
    changes: list[ChangeShape]
    environment_changes: list[ChangeShape]
    smallest_change: float | None
    doubted: int
    odd_hosts: dict[str, Interval]


class ComparedSide(Shape):
    record_id: str
    run_id: str
    case: Case
    device: str | None
    provenance: Provenance
    status: Status
    value: float | None = None


class ComparisonShape(Shape):
    metric: str
    baseline: ComparedSide
    compared: ComparedSide
    ratio: float | None
    low: float | None
    high: float | None
    times_better: float | None
    p_value: float | None
    margin: float
    verdict: str
    labels: list[str]
    refused: list[str]


class Comparisons(Shape):
    by: str
    comparisons: list[ComparisonShape]
    alone: list[ComparedSide]
    left_out: bool = Field(description="Whether more series match than are looked at.")


class TryShape(Shape):
    outcome_id: str
    platform: str
    workload: str | None
    runtime: str | None
    precision: str | None
    batch: int | None
    shape: dict[str, int]
    status: Status
    reason: str | None
    remedy: str | None
    started_at: AwareDatetime
    throughput_per_s: float | None


class WayShape(TryShape):
    """What decides for one workload, runtime and precision."""

    partly: list[TryShape] = Field(description="What does not work while something else does, such as a larger batch.")
    instead: list[TryShape] = Field(description="Where it does not work: what did, the nearest and fastest first.")


class CellShape(Shape):
    """Ok if any way is; reason, remedy and what to use instead are those of the way that got farthest."""

    model: str
    platform: str
    status: Status
    reason: str | None
    remedy: str | None
    instead: list[TryShape]
    ways: list[WayShape] = Field(description="Workloads, runtimes and precisions that were tried.")


class MatrixShape(Shape):
    models: list[str]
    platforms: list[str]
    cells: list[CellShape]


class SamplesShape(Shape):
    """The series of each process, in milliseconds per step; what is no number is null."""

    record_id: str
    samples: list[dict[str, Any]]


class WholeRecord(BaseModel):
    """A record with its samples, as `core.types.Record` has it; what is no number is null."""

    model_config = ConfigDict(extra="allow")
    record_id: str
    run_id: str
    series_id: str
    case: Case
    status: Status
    provenance: Provenance
    started_at: AwareDatetime
    metrics: dict[str, dict[str, Any]]
    samples: list[dict[str, Any]]
