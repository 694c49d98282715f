"""The samples of a step together with the passport that says how far to trust them."""

from __future__ import annotations

from modeldyno.core.protocols import Bench, ReportsState, Step, TimesItself
from modeldyno.core.types import Passport, Samples
from modeldyno.measure import loop, passport
from modeldyno.measure.host import snapshot


def sampled(bench: Bench, step: Step, keeper: TimesItself | None = None) -> tuple[Samples, Passport]:
    """Host and device are looked at before and after the sampling, which a keeper of its own time does itself."""
    teller = bench.session if isinstance(bench.session, ReportsState) else None
    before, state_before = snapshot(), teller.state() if teller else {}
    if keeper:
        samples = keeper.sample(bench.policy, bench.process)
    else:
        samples = loop.sample(bench.session, step, bench.policy, bench.process, bench.turns)
    after, state_after = snapshot(), teller.state() if teller else {}
    checks = passport.host_checks(before, after) + passport.sample_checks(samples)
    if teller:
        checks += teller.checks(state_before, state_after)
    return samples, Passport.of(checks)
