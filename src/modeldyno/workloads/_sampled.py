"""The samples of a step together with the passport that says how far to trust them."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from modeldyno.core.protocols import Bench, ReportsState, Step, TimesItself
from modeldyno.core.types import Check, Passport, Samples
from modeldyno.measure import loop, passport
from modeldyno.measure.host import snapshot

T = TypeVar("T")


def sampled(bench: Bench, step: Step, keeper: TimesItself | None = None) -> tuple[Samples, Passport]:
    """The samples, which a keeper of its own time takes itself."""

    def sample() -> Samples:
        if keeper:
            return keeper.sample(bench.policy, bench.process)
        return loop.sample(bench.session, step, bench.policy, bench.process, bench.turns)

    samples, checks = watched(bench, sample)
    return samples, Passport.of(checks + passport.sample_checks(samples))


def watched(bench: Bench, work: Callable[[], T]) -> tuple[T, tuple[Check, ...]]:
    """What the work gives; host and device are looked at before and after it."""
    teller = bench.session if isinstance(bench.session, ReportsState) else None
    before, state_before = snapshot(), teller.state() if teller else {}
    given = work()
    after, state_after = snapshot(), teller.state() if teller else {}
    checks = passport.host_checks(before, after)
    return given, checks + (teller.checks(state_before, state_after) if teller else ())
