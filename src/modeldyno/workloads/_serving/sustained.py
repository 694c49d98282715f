"""The highest rate that keeps a bound: every rate that is tried is a real test, the one found a longer one."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace

from modeldyno.core.types import Check, Verdict
from modeldyno.workloads._serving.judge import holds
from modeldyno.workloads._serving.loadgen import LoadTest
from modeldyno.workloads._serving.order import Order, Scenario
from modeldyno.workloads._serving.search import CLOSE, agreed, highest_rate
from modeldyno.workloads._serving.slo import Slo

START = 0.9
"""Share of the service rate to begin with, where the bound leaves time to wait."""
FLOOR = 1 / 64
"""Share of the service rate below which nobody wants to know."""
TRIED, CONFIRMED = 1, 2
"""How much longer than usual a test is."""
MOST_TESTS = 30
IDLE_SHARE = 0.25
"""Of the time for the search, for the idle server at most."""
MORE_TIME = "give it more with --option search_s=1800 --timeout 3600"
Test = Callable[[Order], LoadTest]


class BoundMissed(Exception):
    """No rate keeps the bound; says what was reached."""


class _Over(Exception):
    """No time or no test is left."""


class _Tests:
    """The tests of one search, counted, and ended before they take too long."""

    def __init__(self, order: Order, test: Test) -> None:
        self._order, self._test = order, test
        self._until = time.perf_counter() + order.search_s
        self._made = self._missed = self._lowered = 0
        self._held: dict[float, LoadTest] = {}
        """The last test at each rate that held."""

    def holds(self, rate: float, longer: int = TRIED) -> bool:
        order = self._order.at(rate, longer)
        if self._made == MOST_TESTS or time.perf_counter() + order.expected_s > self._until:
            raise _Over
        tested = self._test(order)
        good = holds(tested)
        self._made += 1
        self._missed += not good
        if good:
            self._held[rate] = tested
        return good

    def confirmed(self, rate: float, floor: float) -> float | None:
        """The rate where longer tests say so too, else the next lower one of which they do."""
        known = [True]
        while rate >= floor:
            if agreed(lambda at: self.holds(at, CONFIRMED), rate, *known):
                return rate
            self._held = {at: tested for at, tested in self._held.items() if at < rate}
            self._lowered += 1
            rate, known = rate / CLOSE, []
        return None

    def record(self, rate: float) -> LoadTest:
        return self._with_check(self._held[rate])

    def best(self) -> LoadTest:
        """Of a search that came to no end."""
        told = f"the search had no time left after {self._told} and the rate is not confirmed"
        if not self._held:
            raise BoundMissed(f"{told}: none of those tried holds; {MORE_TIME}")
        return self._with_check(self._held[max(self._held)], f"{told}: {MORE_TIME}")

    def _with_check(self, tested: LoadTest, doubt: str | None = None) -> LoadTest:
        verdict = Verdict.AMBIGUOUS if doubt else Verdict.VALID
        check = Check(name="search", value=self._told, verdict=verdict, advice=doubt)
        return replace(tested, trust=(*tested.trust, check))

    @property
    def _told(self) -> str:
        return f"{self._made} tests, {self._missed} missed, lowered {self._lowered} times"


def sustained(order: Order, slo: Slo, service_rate: float, test: Test) -> LoadTest:
    """A test at the highest rate that holds. Raises BoundMissed where there is none."""
    tests = _Tests(order, test)
    idle_ms = _idle(order, slo, test)
    floor = FLOOR * service_rate
    start = max(floor, START * service_rate * (1 - idle_ms / slo.bound_ms))
    try:
        rate = highest_rate(tests.holds, start, floor)
        rate = rate and tests.confirmed(rate, floor)
    except _Over:
        return tests.best()
    if rate is None:
        raise BoundMissed(
            f"not even {floor:.3g} queries/s keep {slo}: {slo.name} of an idle server is {idle_ms:.4g} ms"
        )
    return tests.record(rate)


def _idle(order: Order, slo: Slo, test: Test) -> float:
    """What a server reaches that has one query at a time."""
    exactly, most_s = order.exactly or slo.queries, IDLE_SHARE * order.search_s
    alone = replace(order, scenario=Scenario.SINGLE_STREAM, rate=None, exactly=exactly, most_s=most_s)
    latencies = test(alone).times.latency_ms
    reached = slo.reached(latencies)
    if reached > slo.bound_ms:
        best = min(latencies)
        raise BoundMissed(
            f"no rate keeps {slo}: of an idle server {slo.name} is {reached:.4g} ms, the best {best:.4g} ms"
        )
    return reached
