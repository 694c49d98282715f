"""What somebody wants of a way to run a model: a goal, and limits that it must keep."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass
from enum import StrEnum

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.metrics import METRICS, Direction
from modeldyno.measure.statistics import PERCENTILE_SAMPLES
from modeldyno.workloads._serving.slo import MEAN, Slo, read_slo

_BYTES = {"kb": 1e3, "mb": 1e6, "gb": 1e9, "tb": 1e12, "kib": 2**10, "mib": 2**20, "gib": 2**30, "tib": 2**40}
_MB = 2**20
"""Metrics count memory in these."""
_PERCENTILE = re.compile(r"latency_p(\d+)_ms")
_SIZE = re.compile(r"(?P<amount>\d+(\.\d+)?|\.\d+)\s*(?P<unit>[a-z]*)")


class Goal(StrEnum):
    """What is to be as small or as large as it can be."""

    LATENCY = "latency"
    THROUGHPUT = "throughput"
    MEMORY = "memory"
    COST = "cost"
    ENERGY = "energy"

    @property
    def direction(self) -> Direction:
        return Direction.MORE if self is Goal.THROUGHPUT else Direction.LESS

    @property
    def unit(self) -> str:
        return _UNITS[self]

    @property
    def metric(self) -> str:
        """What of a record tells it; of cost the rate, for the rest is the price."""
        return _METRICS[self]


_UNITS = {
    Goal.LATENCY: "ms",
    Goal.THROUGHPUT: "items/s",
    Goal.MEMORY: "MiB",
    Goal.COST: "USD per million items",
    Goal.ENERGY: "J per item",
}
_METRICS = {
    Goal.LATENCY: "latency_ms",
    Goal.THROUGHPUT: "throughput_per_s",
    Goal.MEMORY: "memory_peak_mb",
    Goal.COST: "throughput_per_s",
    Goal.ENERGY: "energy_j",
}


@dataclass(frozen=True)
class Limit:
    """One limit that a figure must not exceed."""

    name: str
    """In the user's words: `p95=20ms`."""
    figure: str
    """A metric of the table, or `per_hour`, the price."""
    most: float
    unit: str


PER_HOUR = "per_hour"


@dataclass(frozen=True)
class Wishes:
    """The goal, and the limits."""

    goal: Goal = Goal.LATENCY
    limits: tuple[Limit, ...] = ()

    @property
    def needs_prices(self) -> bool:
        return self.goal is Goal.COST or any(limit.figure == PER_HOUR for limit in self.limits)

    @property
    def samples(self) -> int | None:
        """So many samples of a process tell the percentile that is limited."""
        ranks = [_PERCENTILE.fullmatch(limit.figure) for limit in self.limits]
        return max((PERCENTILE_SAMPLES[int(rank[1])] for rank in ranks if rank), default=None)


def is_percentile(figure: str) -> bool:
    return _PERCENTILE.fullmatch(figure) is not None


def read_wishes(goal: str, slo: str | None, max_memory: str | None, budget_per_hour: float | None) -> Wishes:
    """From the user's words; what cannot be read is an error that shows how to write it."""
    if goal not in list(Goal):
        raise UnknownName("goal", goal, Goal)
    limits = []
    if slo:
        read = read_slo(slo)
        limits.append(Limit(str(read), _latency_metric(read), read.bound_ms, "ms"))
    if max_memory:
        limits.append(Limit(f"memory {max_memory}", "memory_peak_mb", read_memory(max_memory), "MiB"))
    if budget_per_hour is not None:
        if not (math.isfinite(budget_per_hour) and budget_per_hour > 0):
            raise InputError(f"--budget-per-hour {budget_per_hour:g} is no budget; write USD for an hour, such as 2.")
        limits.append(Limit(f"{budget_per_hour:g} USD per hour", PER_HOUR, budget_per_hour, "USD per hour"))
    return Wishes(Goal(goal), tuple(limits))


def _latency_metric(slo: Slo) -> str:
    name = f"latency_{slo.name}_ms"
    if name not in METRICS:
        known = [f"p{rank}" for rank in PERCENTILE_SAMPLES if f"latency_p{rank}_ms" in METRICS]
        raise InputError(f"No record has {slo.name} of its step time; use one of {', '.join([*known, MEAN])}.")
    return name


def read_memory(text: str) -> float:
    """Megabytes, as the metrics count them; a size without a unit could be anything."""
    read = _SIZE.fullmatch(text.strip().lower())
    if read and not read["unit"]:
        raise InputError(f"The size '{text}' has no unit; write for example {text.strip()}GB or {text.strip()}GiB.")
    if read is None or read["unit"] not in _BYTES or float(read["amount"]) == 0:
        raise InputError(f"The size '{text}' cannot be read; write for example 8GB or 512MB.")
    return float(read["amount"]) * _BYTES[read["unit"]] / _MB
