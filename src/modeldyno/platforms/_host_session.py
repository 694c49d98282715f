"""A session timed by the host's clock, since its steps are done when they return; and the processor's counters."""

from __future__ import annotations

from collections.abc import Mapping
from time import perf_counter_ns
from typing import Any

from modeldyno.core.protocols import EnergyReading, Lap, Step
from modeldyno.core.types import Check, Device
from modeldyno.platforms import _host_state
from modeldyno.platforms._rapl import RaplCounter


class HostSession:
    def __init__(self, device: Device) -> None:
        self.device = device

    def lap(self, step: Step, count: int) -> Lap:
        """Steps here block until they are done, so two stamps suffice."""
        started = perf_counter_ns()
        for _ in range(count):
            step()
        return Lap(host_ns=perf_counter_ns() - started)

    def close(self) -> None:
        """Nothing is held."""


class HostCounters:
    """Energy and state of the host's processor, for sessions that run on it."""

    def __init__(self) -> None:
        self._rapl = RaplCounter()

    def energy(self) -> EnergyReading | None:
        """Of the whole packages: other load on the host is in it."""
        return self._rapl.read()

    def state(self) -> dict[str, float | str | bool]:
        return _host_state.read_state()

    def checks(self, before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[Check, ...]:
        return _host_state.judge(before, after)
