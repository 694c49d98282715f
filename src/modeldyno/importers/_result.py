"""One result as a file tells it, and the record it becomes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import lru_cache
from typing import Any

from modeldyno.core.identity import digest
from modeldyno.core.types import (
    Case,
    Device,
    MetricValue,
    ModelInfo,
    Placement,
    ProfileRow,
    Samples,
    Status,
    Stop,
)
from modeldyno.importers._words import number_of, precision_of
from modeldyno.models import Entry, architecture_of, find

UNSTATED = "unstated"
"""What a file does not say, where a word is needed."""
LONGEST_MS = 1e9
"""Eleven days: no step takes longer, a typing error does."""


@dataclass(frozen=True, kw_only=True)
class Result:
    """What an importer hands over. A value that is None was not in the file and is left out."""

    run: str
    model: Any
    platform: Any
    workload: str = "inference"
    runtime: str | None = None
    precision: str | None = None
    batch: Any = None
    shape: Mapping[str, int] = field(default_factory=dict)
    options: Mapping[str, str | int | float | bool] = field(default_factory=dict)
    metrics: Mapping[str, Any] = field(default_factory=dict)
    """Names of the metric table with numbers, also as text, or `MetricValue`s; `latency_ms` is per step (batch)."""
    samples_ms: Sequence[float] = ()
    in_flight: float | None = 1
    """How many steps ran at once; None where nobody knows."""
    status: Status = Status.OK
    reason: str | None = None
    evidence: Sequence[str] = ()
    started_at: datetime | None = None
    duration_s: float = 0.0
    device: str | None = None
    device_memory_mb: float | None = None
    capability: str | None = None
    parameters: int | None = None
    family: str | None = None
    gflop: float | None = None
    placement: Placement | None = None
    profile: Sequence[ProfileRow] = ()
    software: Mapping[str, str] = field(default_factory=dict)
    log: str | None = None

    def values(self, may_be_empty: bool = False) -> dict[str, MetricValue]:
        """The metrics; a ValueError names the first that is none, for a result is taken as a whole or not at all."""
        values: dict[str, MetricValue] = {}
        for name, given in self.metrics.items():
            if given is None:
                continue
            plain = given.value if isinstance(given, MetricValue) else given
            number = number_of(plain)
            if number is None or number < 0 or (name.endswith("_ms") and number > LONGEST_MS):
                raise ValueError(f"has {name} {plain!r}, which is no such number")
            values[name] = given if isinstance(given, MetricValue) else MetricValue(value=number)
        if self.status is Status.OK and not values and not may_be_empty:
            raise ValueError("has no number")
        return values

    def samples(self) -> tuple[Samples, ...]:
        if bad := [sample for sample in self.samples_ms if not _is_duration(sample)]:
            raise ValueError(f"has a sample of {bad[0]!r} ms")
        if not self.samples_ms:
            return ()
        times = [float(sample) for sample in self.samples_ms]
        return (Samples(host_ms=times, stop=Stop.SAMPLE_COUNT, steady=None),)

    def case(self, platform: str, given: Mapping[str, str]) -> Case:
        """What was measured; the user may have said what the file does not. A batch that nobody states is 1."""
        return _case(
            self.workload,
            model_name(str(self.model)),
            platform,
            self.runtime or given.get("runtime") or UNSTATED,
            precision_of(self.precision or given.get("precision") or UNSTATED),
            int(self.batch or given.get("batch") or 1),
            tuple(sorted(self.shape.items())),
            tuple(sorted(self.options.items())),
        )

    def device_of(self, platform: str, given: Mapping[str, str]) -> Device | None:
        name = self.device or given.get("device")
        return _device(platform, name, self.device_memory_mb, self.capability) if name else None

    def model_info(self, source: str) -> ModelInfo:
        return _model(str(self.model), source, self.parameters, self.family, self.gflop)


def _is_duration(value: Any) -> bool:
    number = number_of(value)
    return number is not None and number >= 0


@lru_cache(maxsize=65536)
def _case(
    workload: str,
    model: str,
    platform: str,
    runtime: str,
    precision: str,
    batch: int,
    shape: tuple[tuple[str, int], ...],
    options: tuple[tuple[str, Any], ...],
) -> Case:
    return Case(
        workload=workload,
        model=model,
        platform=platform,
        runtime=runtime,
        precision=precision,
        batch=batch,
        shape=dict(shape),
        options=dict(options),
    )


@lru_cache(maxsize=4096)
def _device(platform: str, name: str, memory_mb: float | None, capability: str | None) -> Device:
    return Device(platform=platform, index=0, name=name, memory_mb=memory_mb, capability=capability)


@lru_cache(maxsize=65536)
def _model(name: str, source: str, parameters: int | None, family: str | None, gflop: float | None) -> ModelInfo:
    entry = _entry(name)
    return ModelInfo(
        name=model_name(name),
        architecture=architecture_of(entry.config) if entry else None,
        family=entry.family if entry else family,
        parameters=parameters,
        weights=UNSTATED,
        source=source,
        fingerprint=digest(["imported", source, name, parameters]),
        gflop=gflop,
    )


@lru_cache(maxsize=65536)
def model_name(name: str) -> str:
    """The catalogue's name for it, so that results from elsewhere stand beside our own."""
    entry = _entry(name)
    return entry.name if entry else name


def _entry(name: str) -> Entry | None:
    """The catalogue's entry of a full name; a short one such as `bert` may mean any model of its class."""
    entry = find(name)
    full = {entry.name, entry.hf_id, (entry.hf_id or "").split("/")[-1]} if entry else set()
    return entry if name.lower() in {known.lower() for known in full if known} else None
