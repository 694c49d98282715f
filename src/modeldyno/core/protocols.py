"""What a platform, a session, a runtime and a workload must offer; optional abilities are protocols of their own.

Generic code asks `isinstance(session, CountsEnergy)`, never which device it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

from modeldyno.core.policy import Policy
from modeldyno.core.types import (
    Case,
    Check,
    Device,
    MetricValue,
    ModelInfo,
    Outcome,
    Placement,
    Probe,
    ProfileRow,
    Samples,
)

if TYPE_CHECKING:
    import numpy as np

    Arrays = dict[str, np.ndarray[Any, Any]]

Step = Callable[[], Any]


@dataclass(frozen=True)
class Lap:
    """One reading of a stopwatch over one or more steps."""

    host_ns: int
    device_ns: int | None = None
    """Time the device was busy; absent where host and device are the same."""


@runtime_checkable
class ReadsParts(Protocol):
    """A step that times parts of itself."""

    def read(self) -> Mapping[str, Sequence[float]]:
        """What was read since the last call, by the metric it belongs to, in the order of the steps."""
        ...


class Session(Protocol):
    """An open device. It owns its stopwatch: the only code that knows how this device synchronises."""

    device: Device

    def lap(self, step: Step, count: int) -> Lap:
        """Run `step` `count` times; return when the device has finished, with the total times."""
        ...

    def close(self) -> None: ...


class Platform(Protocol):
    """One of the hardware backends."""

    name: str
    runtimes: tuple[str, ...]
    """Runtimes that can drive it, the default first."""

    def probe(self) -> Probe:
        """What is here. Never raises, never imports a heavy package when the hardware cannot be there."""
        ...

    def refuses(self, case: Case) -> str | None:
        """Why this platform cannot carry the case, known without trying; None when it may."""
        ...

    def open(self, index: int) -> Session: ...


@runtime_checkable
class TimesDevice(Protocol):
    """A session whose device runs behind the host: can time the device alone."""

    def device_lap(self, step: Step, cold: bool) -> Lap:
        """One step with the launches queued up first, so that `device_ns` is free of launch latency.

        With `cold`, the last-level cache is flushed outside the timed window."""
        ...


class MemoryMeter(Protocol):
    def reset(self) -> None: ...

    def sample(self) -> float:
        """Memory in use now, in MB."""
        ...

    def metrics(self) -> dict[str, MetricValue]:
        """Peaks since the reset."""
        ...


@runtime_checkable
class CountsMemory(Protocol):
    """A session with memory of its own to count."""

    def memory_meter(self) -> MemoryMeter: ...


@dataclass(frozen=True)
class EnergyReading:
    joules: float
    source: str
    """`counter` or `integrated`."""


@runtime_checkable
class CountsEnergy(Protocol):
    """A session with an energy counter."""

    def energy(self) -> EnergyReading | None:
        """The cumulative reading now; None where the device offers none."""
        ...


@runtime_checkable
class ReportsState(Protocol):
    """A session that can tell about clocks, temperature, throttling and foreign load."""

    def state(self) -> dict[str, float | str | bool]:
        """A reading now, one taken before and one after the measurement."""
        ...

    def checks(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Check, ...]: ...


@runtime_checkable
class RunsTorch(Protocol):
    """A session that PyTorch can address."""

    def torch_device(self) -> str: ...


@runtime_checkable
class SumsTogether(Protocol):
    """A session whose device can add up tensors with other devices of its platform."""

    def together(self) -> Sequence[str]:
        """How PyTorch addresses those that take part, its own device first; alone where there is no other."""
        ...

    def all_reduce(self, given: Sequence[Any], sums: Sequence[Any]) -> None:
        """Start adding up `given`, a tensor on each; its own device has finished when each has the sum."""
        ...


@runtime_checkable
class RunsOnnxruntime(Protocol):
    """A session that ONNX Runtime can address."""

    def ort_provider(self) -> tuple[str, dict[str, str]]:
        """Execution provider and its options."""
        ...


@runtime_checkable
class RunsOpenvino(Protocol):
    """A session that OpenVINO can address."""

    def openvino_device(self) -> str: ...


@dataclass(frozen=True)
class Reference:
    """Trusted outputs of a model, evenly sampled where they are large."""

    made_by: str
    """E.g. `torch fp32 on cpu`."""
    values: Arrays
    """Flat, every `stride`-th value of each output."""
    strides: dict[str, int]


class Source(Protocol):
    """A model at one batch size and shape, ready for any runtime to take what it needs."""

    info: ModelInfo
    build_ms: float
    """Time spent so far on constructing, reading and exporting; 0 when all came from the cache."""

    def inputs(self) -> Arrays: ...

    def torch_model(self) -> Any:
        """A new fp32 module on the CPU in evaluation mode, the caller's own. Raises Unsupported for an ONNX file."""
        ...

    def onnx_path(self) -> Path:
        """The exported graph with static shapes, from the cache if it is there. Raises Unsupported."""
        ...

    def reference(self) -> Reference: ...

    def rounding(self, precision: str) -> dict[str, float]:
        """Per output, how far PyTorch on the CPU in this precision is from the reference; empty where unknown."""
        ...


class Loaded(Protocol):
    """A model on a device, bound to its inputs."""

    load_ms: float

    def step(self) -> Any:
        """Runs the model once; may return before the device has finished."""
        ...

    def outputs(self) -> Arrays:
        """The outputs of one step, as fp32 arrays on the host, named as in the reference."""
        ...

    def placement(self) -> Placement:
        """Proof of where it ran; asked after the first step."""
        ...


@runtime_checkable
class Profiles(Protocol):
    """A loaded model that can tell where its time goes."""

    def profile(self) -> tuple[ProfileRow, ...]: ...


@runtime_checkable
class TimesItself(Protocol):
    """A loaded model that runs elsewhere (a browser page, a phone, a set of ranks) and keeps its own time there."""

    def sample(self, policy: Policy, process: int) -> Samples: ...


@runtime_checkable
class StepsAtOnce(Protocol):
    """A loaded model whose step may run in several threads at a time."""

    def steps_at_once(self) -> int:
        """How many can without getting in each other's way."""
        ...


class Runtime(Protocol):
    """What executes a model."""

    name: str

    options: frozenset[str]
    """Case options it understands."""
    preloads: tuple[str, ...]
    """Modules it imports anyway, worth having ready before a worker is forked."""

    def packages(self) -> tuple[str, ...]:
        """Distributions whose versions decide the result."""
        ...

    def check(self, session: Session, precision: str) -> None:
        """Raises Unsupported with the reason where this session or precision cannot be had."""
        ...

    def prepare(self, source: Source, precision: str) -> None:
        """Make and cache what loading needs, in a process of its own that nothing is measured in."""
        ...

    def load(self, source: Source, session: Session, case: Case) -> Loaded:
        """Bring the model onto the device."""
        ...


@runtime_checkable
class Trains(Protocol):
    """A runtime that a PyTorch module can learn in."""

    def for_training(self, module: Any) -> Any:
        """What to call in place of the module, with the module's own parameters."""
        ...

    def training_details(self) -> dict[str, str | int | float | bool]:
        """What a record should know about it, asked after the last step."""
        ...


@runtime_checkable
class KeepsLast(Protocol):
    """A runtime that holds on to the model it loaded last, for the next case of a group."""

    def release(self) -> None:
        """Let go of it."""
        ...


class Turns(Protocol):
    """Sampling in turns with other processes, of which only one works at a time."""

    def __iter__(self) -> Iterator[float]:
        """Blocks until it is this process's turn; yields the seconds of the turn, ends when it was the last."""
        ...

    def taken(self, samples_ms: Sequence[float]) -> None:
        """The samples of the turn that ends now."""
        ...


@dataclass(frozen=True)
class Bench:
    """All a workload needs to measure one case."""

    case: Case
    policy: Policy
    session: Session
    process: int
    """Which of the repeated processes this is."""
    fresh: bool
    """True for the first case of this process."""
    note: Callable[[str], None]
    """Tells the parent what is happening, for the progress line."""
    turns: Turns | None = None
    """Given when the case is sampled side by side with others."""
    trial: bool = False
    """True where only whether it fits is asked: as little as shows that is enough, and nothing may be left behind."""


class Workload(Protocol):
    """A kind of benchmark."""

    name: str

    def run(self, bench: Bench) -> Outcome: ...


@runtime_checkable
class Prepares(Protocol):
    """A workload with work to do before measuring, in a process of its own: exports, references."""

    def prepare(self, case: Case, note: Callable[[str], None]) -> Outcome: ...


@runtime_checkable
class ShapesCases(Protocol):
    """A workload whose cases have other sizes than one step of the model, such as tokens to make."""

    def axes(self, of_model: Mapping[str, int]) -> Mapping[str, int]:
        """The sizes of its cases with their defaults, from those of a step of the model."""
        ...


@runtime_checkable
class ChecksCases(Protocol):
    """A workload that knows wrong options when it sees them, before anything runs."""

    def check(self, case: Case) -> None:
        """Raises InputError for an option or size that makes no sense. Imports nothing heavy."""
        ...
