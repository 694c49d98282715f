"""The latency bound: what a share of all queries, or their mean, must keep."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

import numpy as np

from modeldyno.core.errors import InputError
from modeldyno.measure.statistics import PERCENTILE_SAMPLES

MEAN = "mean"
QUERIES: dict[str, int] = {f"p{rank}": count for rank, count in PERCENTILE_SAMPLES.items()} | {"p99.9": 6636, MEAN: 64}
"""Queries below which a percentile cannot be told: MLPerf's early-stopping rule at 99 % confidence."""
_MS = {"us": 1e-3, "ms": 1.0, "s": 1e3}
_WORDS = re.compile(r"(?P<name>[a-z0-9.]+)\s*=\s*(?P<amount>\d+(\.\d+)?|\.\d+)\s*(?P<unit>us|ms|s)")


@dataclass(frozen=True)
class Slo:
    """A service level objective: `p99=100ms`."""

    name: str
    """`p99` and others of the table above, or `mean`."""
    bound_ms: float

    @property
    def share(self) -> float | None:
        """Of the queries that must keep the bound; None for the mean."""
        return None if self.name == MEAN else round(float(self.name[1:]) / 100, 6)

    @property
    def queries(self) -> int:
        return QUERIES[self.name]

    def reached(self, latencies_ms: Sequence[float]) -> float:
        """What the queries reached, to be held against the bound."""
        if self.share is None:
            return fmean(latencies_ms)
        return by_rank(latencies_ms, self.share)

    def late(self, latencies_ms: Sequence[float]) -> int:
        return sum(latency > self.bound_ms for latency in latencies_ms)

    def hopeless_backlog(self, queries: int, rate: float) -> int:
        """So many waiting that the bound is lost, even if the server were twice as fast as its measured rate."""
        in_time = 2 * rate * self.bound_ms / 1e3
        if self.share is None:
            return math.ceil(math.sqrt(2 * queries * in_time))  # waiting times of a queue add up to n**2 / 2 rate
        return math.ceil(in_time + queries * (1 - self.share))

    def __str__(self) -> str:
        return f"{self.name}={self.bound_ms:g}ms"


def by_rank(latencies_ms: Sequence[float], share: float) -> float:
    """A percentile without interpolation, as LoadGen has it."""
    rank = min(len(latencies_ms) - 1, int(len(latencies_ms) * share))
    return float(np.sort(np.asarray(latencies_ms))[rank])


def read_slo(text: object) -> Slo:
    """From the user's words; what cannot be read is an error that shows how to write it."""
    read = _WORDS.fullmatch(str(text).strip().lower())
    if read is None or float(read["amount"]) == 0:
        raise InputError(f"The slo '{text}' cannot be read; write for example p99=100ms.")
    if read["name"] not in QUERIES:
        raise InputError(f"The slo '{text}' is about '{read['name']}'; use one of {', '.join(QUERIES)}.")
    return Slo(read["name"], float(read["amount"]) * _MS[read["unit"]])
