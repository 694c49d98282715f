"""A measurement is only as good as its passport."""

from __future__ import annotations

import pytest

from modeldyno.core.types import Check, MetricValue, Passport, Status, Verdict
from modeldyno.workloads._judged import judged

METRICS = {"latency_ms": MetricValue(value=1.0)}


@pytest.mark.parametrize("verdict", [Verdict.VALID, Verdict.AMBIGUOUS])
def test_a_doubt_is_left_to_the_reader(verdict: Verdict) -> None:
    trust = Passport.of((Check(name="noise", value=1.0, verdict=verdict, advice="wait"),))
    outcome = judged(trust, metrics=METRICS)
    assert (outcome.status, outcome.reason, outcome.passport, outcome.metrics) == (Status.OK, None, trust, METRICS)


def test_what_a_check_calls_invalid_is_no_result_and_all_reasons_are_told() -> None:
    bad = Check(name="loads", value=2.0, verdict=Verdict.INVALID, advice="it was loaded twice")
    bare = Check(name="budget", value=2.0, verdict=Verdict.INVALID)
    outcome = judged(Passport.of((bad, Check(name="noise", value=1.0), bare)))
    assert outcome.status is Status.INVALID
    assert outcome.reason == "it was loaded twice; budget"
