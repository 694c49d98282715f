"""What a case asks of the load: scenario, rate, bound, and for how long."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from enum import StrEnum

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Case
from modeldyno.workloads._serving.slo import QUERIES, Slo, read_slo

DURATION_S = 5.0
SEARCH_S = 600.0
"""Leaves room for loading and warming up within the time limit of a case."""
SAMPLES_PER_QUERY = 8
"""MLPerf's own for multi-stream."""
BOUNDS_PER_TEST = 10
"""Times the bound that a test lasts at least: in a shorter one a backlog that grows without end would still hold."""
SURE = 2
"""Times the queries a percentile needs, where it is held against a bound: with the least, one late answer decides."""
OPTIONS = frozenset({"scenario", "rate", "slo", "duration", "window_ms", "samples_per_query", "search_s"})
Options = Mapping[str, str | int | float | bool]


class Scenario(StrEnum):
    """MLPerf's scenarios."""

    SINGLE_STREAM = "single-stream"
    MULTI_STREAM = "multi-stream"
    SERVER = "server"
    OFFLINE = "offline"


_RANK = {Scenario.SINGLE_STREAM: "p90", Scenario.MULTI_STREAM: "p99", Scenario.SERVER: "p90", Scenario.OFFLINE: "p90"}
"""The percentile that must be told where no bound names one: MLPerf's for the first two."""


@dataclass(frozen=True)
class Order:
    """One test of LoadGen."""

    scenario: Scenario = Scenario.SINGLE_STREAM
    rate: float | None = None
    """Queries per second, of the server scenario; to be searched where there is only a bound."""
    slo: Slo | None = None
    duration_s: float = DURATION_S
    """At least; a test goes on until its percentile can be told."""
    window_s: float = 0.0
    """How long the first request of a batch waits for others."""
    samples_per_query: int = 1
    exactly: int | None = None
    """So many queries and no more, be they enough or not."""
    longer: int = 1
    """So many times the usual queries."""
    search_s: float = SEARCH_S
    """In which the search for the rate must come to its end."""
    most_s: float | None = None
    """After which LoadGen ends the test, with the queries it has."""

    @property
    def rank(self) -> str:
        return self.slo.name if self.slo else _RANK[self.scenario]

    @property
    def enough(self) -> int:
        """Queries from which on the percentile can be told."""
        return QUERIES[self.rank]

    @property
    def least_s(self) -> float:
        bounds_s = BOUNDS_PER_TEST * self.slo.bound_ms / 1e3 if self.slo else 0.0
        return max(self.duration_s, bounds_s)

    @property
    def queries(self) -> int:
        """How many a test sends at least; in the server scenario exactly, so that equal seeds mean equal loads."""
        if self.exactly:
            return self.exactly
        judged = SURE * self.enough if self.slo else self.enough
        return self.longer * max(judged, math.ceil((self.rate or 0.0) * self.least_s))

    @property
    def expected_s(self) -> float:
        """How long a test at a rate lasts."""
        return self.queries / self.rate if self.rate else 0.0

    def at(self, rate: float, longer: int) -> Order:
        """The same at a rate, with so many times the usual queries."""
        return replace(self, rate=rate, longer=longer)


def read_order(case: Case, exactly: int | None = None) -> Order:
    """From the options of a case; raises InputError for what makes no sense."""
    options = case.options
    scenario = _scenario(options)
    slo = read_slo(options["slo"]) if "slo" in options else None
    rate = _number(options, "rate", "queries per second, more than 0") if "rate" in options else None
    if scenario is not Scenario.SERVER and (slo or rate):
        given = "slo" if slo else "rate"
        raise InputError(f"The option {given} is for scenario=server, not {scenario}; leave one of them out.")
    if scenario is Scenario.SERVER and not (slo or rate):
        raise InputError("scenario=server needs a rate or an slo; write for example --slo p99=100ms.")
    return Order(
        scenario=scenario,
        rate=rate,
        slo=slo,
        duration_s=_number(options, "duration", "seconds, more than 0", DURATION_S),
        window_s=_number(options, "window_ms", "milliseconds, 0 or more", 0.0, least=0.0) / 1e3,
        samples_per_query=_samples_per_query(options, scenario),
        search_s=_number(options, "search_s", "seconds, more than 0", SEARCH_S),
        exactly=exactly,
    )


def _scenario(options: Options) -> Scenario:
    usual = Scenario.SERVER if {"slo", "rate"} & set(options) else Scenario.SINGLE_STREAM
    name = str(options.get("scenario", usual))
    try:
        return Scenario(name)
    except ValueError:
        raise UnknownName("scenario", name, list(Scenario)) from None


def _samples_per_query(options: Options, scenario: Scenario) -> int:
    count = options.get("samples_per_query", SAMPLES_PER_QUERY if scenario is Scenario.MULTI_STREAM else 1)
    if scenario is not Scenario.MULTI_STREAM and count != 1:
        raise InputError(f"The option samples_per_query is for scenario=multi-stream, not {scenario}; leave it out.")
    if not isinstance(count, int) or count < 1:
        raise InputError(f"The option samples_per_query is a whole number from 1, not {count!r}; write for example 8.")
    return count


def _number(
    options: Options, name: str, meaning: str, usual: float | None = None, least: float = math.ulp(0.0)
) -> float:
    value = options.get(name, usual)
    if not isinstance(value, int | float) or isinstance(value, bool) or not least <= value < math.inf:
        raise InputError(f"The option {name} is {meaning}, not {value!r}; write for example {name}=10.")
    return float(value)
