"""The glossary as frozen types: device, case, record and what they are made of."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from enum import StrEnum
from functools import cached_property
from typing import Annotated, Any

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from modeldyno.core.identity import digest, new_id


def _nan_from_null(value: Any) -> Any:
    return math.nan if value is None else value


def _none_from_null(value: Any) -> Any:
    return {} if value is None else value


Series = list[Annotated[float, BeforeValidator(_nan_from_null)]]


class Frozen(BaseModel):
    """Values, not objects: made once, never changed, unknown fields refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")


class Status(StrEnum):
    """How a case ended. Every case ends in exactly one of these."""

    OK = "ok"
    SKIPPED = "skipped"
    FAILED = "failed"
    INVALID = "invalid"


class Provenance(StrEnum):
    """Where a number comes from."""

    MEASURED = "measured"
    IMPORTED = "imported"
    PREDICTED = "predicted"
    SIMULATED = "simulated"

    @property
    def is_real(self) -> bool:
        """Whether some hardware gave it; what is not takes no part in an answer unless asked for."""
        return self in (Provenance.MEASURED, Provenance.IMPORTED)


class Verdict(StrEnum):
    """How far a measurement can be trusted."""

    VALID = "valid"
    AMBIGUOUS = "ambiguous"
    INVALID = "invalid"


class Precision(StrEnum):
    """The number formats that can be asked for. `fp32` is IEEE single precision: TF32 stays off."""

    FP32 = "fp32"
    BF16 = "bf16"
    FP16 = "fp16"
    INT8 = "int8"


class Weights(StrEnum):
    """Which weights to use: a checkpoint, random values, or a checkpoint if one is at hand."""

    AUTO = "auto"
    RANDOM = "random"
    PRETRAINED = "pretrained"


class Device(Frozen):
    """One concrete device of a platform on a host."""

    platform: str
    index: int
    name: str
    memory_mb: float | None = None
    driver: str | None = None
    capability: str | None = None
    """What it can do, in the vendor's words: compute capability, instruction sets."""
    emulated: bool = False
    """True for a software adapter or emulator: its speed says nothing about the hardware it stands for."""
    details: dict[str, str | int | float | bool] = {}

    @cached_property
    def fingerprint(self) -> str:
        """Equal hardware has equal fingerprints; host, slot and driver do not enter, so a series survives them."""
        memory_gb = None if self.memory_mb is None else round(self.memory_mb / 1024)
        cores = self.details.get("logical_cores")
        return digest([self.platform, self.name, memory_gb, self.capability, cores, self.emulated])

    @property
    def address(self) -> str:
        """How a user names it: `cuda:0`."""
        return f"{self.platform}:{self.index}"


class Probe(Frozen):
    """What a platform found here: devices, or why there are none and what to do about it."""

    platform: str
    devices: tuple[Device, ...] = ()
    reason: str | None = None
    remedy: str | None = None

    @property
    def present(self) -> bool:
        return bool(self.devices)


class Host(Frozen):
    """The machine a run happened on; of results from elsewhere only what their file says."""

    host_id: str
    hostname: str | None = None
    system: str | None = None
    cpu: str | None = None
    logical_cores: int | None = None
    memory_mb: float | None = None
    python: str | None = None


class Case(Frozen):
    """The identity of one measurement."""

    workload: str = "inference"
    model: str
    platform: str
    index: int = Field(default=0, ge=0, le=65535)
    """Which device of the platform; an address, not part of the identity."""
    runtime: str
    precision: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]{0,31}$")] = Precision.FP32.value
    """One of `Precision`; results from elsewhere may bring others, such as `w8a16`."""
    batch: int = Field(default=1, ge=1, le=2**31 - 1)
    shape: dict[str, int] = {}
    """The sizes the architecture has beyond the batch, e.g. `{"seq": 128}`."""
    weights: Weights = Weights.AUTO
    options: dict[str, str | int | float | bool] = {}

    @cached_property
    def key(self) -> str:
        """Hash of the identity; equal on every host."""
        return digest(self.model_dump(mode="json", exclude={"index"}))

    @property
    def target(self) -> str:
        return f"{self.platform}:{self.index}"

    @cached_property
    def label(self) -> str:
        """One line for people; options appear only when set."""
        parts = [self.model, self.target, self.runtime, self.precision, f"batch {self.batch}"]
        parts += [f"{name} {size}" for name, size in self.shape.items()]
        parts += [f"{name}={value}" for name, value in self.options.items()]
        if self.workload != "inference":
            parts.insert(0, self.workload)
        return " · ".join(parts)

    @property
    def sizes(self) -> str:
        """Shape and options: what else tells cases apart."""
        axes = [f"{axis} {size}" for axis, size in self.shape.items()]
        return " ".join([*axes, *(f"{name}={value}" for name, value in self.options.items())])

    def __hash__(self) -> int:
        return hash((self.key, self.index))


class ModelInfo(Frozen):
    """What is known about the model that a case used."""

    name: str
    architecture: str | None = None
    """One of the eleven architectures; absent for a bare ONNX file."""
    family: str | None = None
    model_type: str | None = None
    """The configuration's own word for it."""
    parameters: int | None = None
    size: str | None = None
    weights: str
    """`pretrained`, `random`, `file`, or `unstated` where a result from elsewhere does not say."""
    source: str
    """Catalogue entry, Hugging Face id, folder or file it came from."""
    fingerprint: str
    """Hash of configuration, weights and seed: equal fingerprints compute the same function."""
    gflop: float | None = None
    """Operations of one step at this case's shape; absent when the graph cannot be counted."""


class MetricValue(Frozen):
    """One number with its 95 % interval; no value but a note when it could not be given honestly.

    Metrics that a process or window gives only once carry the range over them instead, and the note says so."""

    value: float | None
    low: float | None = None
    high: float | None = None
    n: int | None = None
    note: str | None = None
    """Label or caveat: `counter`, `needs 662 samples, has 40`."""


class Stop(StrEnum):
    """Which rule ended the sampling."""

    INTERVAL = "interval"
    NOISE_SETTLED = "noise_settled"
    TIME_CAP = "time_cap"
    SAMPLE_COUNT = "sample_count"
    TURNS = "turns"
    """Whoever gives the turns said that it is enough."""


class Samples(Frozen):
    """The raw samples of one process, in milliseconds per step, in the order they were taken."""

    process: int = 0
    steps_per_sample: int = 1
    """Steps timed together because one alone is too short for the timer."""
    warmup_ms: Series = []
    host_ms: Series
    device_ms: Series = []
    device_cold_ms: Series = []
    cpu_ms: Series = []
    """CPU time of the whole worker per step."""
    wait_ms: Series = []
    """Time the measuring thread was runnable but waited for a core, per step."""
    parts: Annotated[dict[str, Series], BeforeValidator(_none_from_null)] = {}
    """What else was read in the steps, by the metric it belongs to: gaps between tokens, the forward pass, the loss."""
    stop: Stop
    steady: bool | None
    """False: warm-up reached its cap without two windows that agree (`no_steady_state`); None: not known."""


class Check(Frozen):
    """One line of a passport."""

    name: str
    value: float | str | bool | None
    limit: float | str | bool | None = None
    verdict: Verdict = Verdict.VALID
    advice: str | None = None


class Passport(Frozen):
    """What decides whether a measurement can be trusted."""

    verdict: Verdict
    checks: tuple[Check, ...] = ()

    @classmethod
    def of(cls, checks: tuple[Check, ...]) -> Passport:
        """The verdict of a passport is that of its worst check."""
        order = (Verdict.VALID, Verdict.AMBIGUOUS, Verdict.INVALID)
        worst = max((order.index(c.verdict) for c in checks), default=0)
        return cls(verdict=order[worst], checks=checks)

    @property
    def concerns(self) -> tuple[Check, ...]:
        return tuple(c for c in self.checks if c.verdict is not Verdict.VALID)


class Placement(Frozen):
    """Proof of where a case really ran and in which number format."""

    asked: str | None = None
    """The device or provider that was asked for, in the runtime's words."""
    device: str
    """The one that did most of the work, in the same words: `cuda:0`, `CPUExecutionProvider`, `CPU`."""
    compute_precision: str
    """The format the arithmetic really used; differs from the request where a runtime converts silently."""
    nodes: dict[str, int] = {}
    """Graph nodes or parameters per device or provider."""
    fallback: tuple[str, ...] = ()
    """Operators that ran somewhere else than asked."""
    threads: int | None = None
    details: dict[str, str | int | float | bool] = {}


class OutputCheck(Frozen):
    """The outputs held against the reference."""

    reference: str
    rel_l2: float | None
    tolerance: float
    passed: bool
    compared: int
    """How many values were compared; large outputs are sampled evenly."""
    worst_output: str | None = None


KERNEL = "kernel"
"""Kind of profile rows that are work of the device itself."""


class ProfileRow(Frozen):
    """One kernel, operator or layer of a profile."""

    name: str
    kind: str | None = None
    calls: int
    time_ms: float
    share: float
    """Of the profiled time, 0 to 1."""


class Outcome(Frozen):
    """What one worker process says of one case."""

    status: Status
    reason: str | None = None
    remedy: str | None = None
    device: Device | None = None
    model: ModelInfo | None = None
    placement: Placement | None = None
    check: OutputCheck | None = None
    passport: Passport | None = None
    metrics: dict[str, MetricValue] = {}
    """Metrics that are not derived from the samples: load, memory, energy."""
    samples: Samples | None = None
    profile: tuple[ProfileRow, ...] = ()
    software: dict[str, str] = {}
    log: str | None = None
    """Traceback or last words of the worker, for `--debug` and the store."""
    out_of_memory: bool = False


class Record(Frozen):
    """Outcome of one case in one run."""

    record_id: str = Field(default_factory=new_id)
    run_id: str
    case: Case
    status: Status
    reason: str | None = None
    remedy: str | None = None
    provenance: Provenance = Provenance.MEASURED
    evidence: tuple[str, ...] = ()
    """Why a number from elsewhere is called simulated."""
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    duration_s: float = 0.0
    device: Device | None = None
    """The device that really ran; the one asked for is the case's target."""
    model: ModelInfo | None = None
    placement: Placement | None = None
    check: OutputCheck | None = None
    passport: Passport | None = None
    metrics: dict[str, MetricValue] = {}
    samples: tuple[Samples, ...] = ()
    profile: tuple[ProfileRow, ...] = ()
    software: dict[str, str] = {}
    log: str | None = None

    @property
    def series_id(self) -> str:
        """Records of one case on equal hardware belong to one series."""
        return digest([self.case.key, self.device.fingerprint if self.device else None])

    def value(self, name: str) -> float | None:
        metric = self.metrics.get(name)
        return metric.value if metric else None


class Run(Frozen):
    """One invocation on one host."""

    run_id: str = Field(default_factory=new_id)
    started_at: datetime = Field(default_factory=lambda: datetime.now(UTC))
    host: Host
    name: str | None = None
    """The suite's name, where a suite was run."""
    command: str
    version: str
    commit: str | None = None
    """Commit of the repository the run was started in."""
    plan: tuple[Case, ...] = ()
    effort: str = "default"
    settings: dict[str, bool | int | float | None] = {}
    """What was changed of the effort's policy."""
    import_id: str | None = None
    """The import that brought it from elsewhere."""

    @cached_property
    def plan_digest(self) -> str:
        return digest([self.effort, self.settings, *([case.key, case.index] for case in self.plan)])
