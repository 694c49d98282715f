"""The highest rate that keeps a bound: every rate that is tried is a real test, the one found a longer one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from modeldyno.workloads._serving.judge import holds, keeps_up
from modeldyno.workloads._serving.loadgen import LoadTest
from modeldyno.workloads._serving.order import Order, Scenario
from modeldyno.workloads._serving.search import LOWER, highest_rate
from modeldyno.workloads._serving.slo import Slo

START = 0.8
"""Share of the service rate to begin with."""
FLOOR = 1 / 64
"""Share of the service rate below which nobody wants to know."""
TRIED, CONFIRMED = 1, 2
"""How much longer than usual a test is."""
Test = Callable[[Order], LoadTest]


class BoundMissed(Exception):
    """No rate keeps the bound; says what was reached."""


def sustained(order: Order, slo: Slo, service_rate: float, test: Test) -> LoadTest:
    """A test at the highest rate that holds. Raises BoundMissed where there is none."""
    idle_ms = _idle(order, slo, test)
    floor = FLOOR * service_rate

    def tried(rate: float) -> bool:
        return holds(_twice(order.at(rate, TRIED), test))

    rate = highest_rate(tried, START * service_rate, floor)
    while rate is not None and rate >= floor:
        confirmed = _twice(order.at(rate, CONFIRMED), test)
        if holds(confirmed):
            return confirmed
        rate *= LOWER
    raise BoundMissed(f"not even {floor:.3g} queries/s keep {slo}: {slo.name} of an idle server is {idle_ms:.4g} ms")


def _twice(order: Order, test: Test) -> LoadTest:
    """A server that kept up and yet missed the bound gets a second chance: one hiccup of the host can do that."""
    tested = test(order)
    return tested if holds(tested) or not keeps_up(tested) else test(order)


def _idle(order: Order, slo: Slo, test: Test) -> float:
    """What a server reaches that has one query at a time."""
    exactly = order.exactly or slo.queries
    tested = test(replace(order, scenario=Scenario.SINGLE_STREAM, rate=None, exactly=exactly))
    latencies = tested.times.latency_ms
    reached = slo.reached(latencies)
    if reached > slo.bound_ms:
        best = min(latencies)
        raise BoundMissed(
            f"no rate keeps {slo}: of an idle server {slo.name} is {reached:.4g} ms, the best {best:.4g} ms"
        )
    return reached
