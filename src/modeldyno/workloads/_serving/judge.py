"""What a test shows, as metrics, and how far it holds, as lines of the passport."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np

from modeldyno.core.metrics import format_value
from modeldyno.core.types import Check, MetricValue, Verdict
from modeldyno.measure.statistics import PERCENTILE_SAMPLES
from modeldyno.workloads._serving.loadgen import LoadTest
from modeldyno.workloads._serving.order import Scenario
from modeldyno.workloads._serving.slo import by_rank

KEEPS_UP = 0.9
"""Share of the offered rate that must be answered in a test that lasts ten times the bound."""
LAG_SHARE, STRONG_LAG_SHARE = 0.1, 0.5
"""Of the bound, or of the median latency where there is none."""
_ABOUT_COUNT = {"early stopping", "min queries"}
_RANKS = (90, 95, 99)
QUEUED = "no interval: queries of one queue wait for each other"
Metrics = dict[str, MetricValue]


def metrics(tested: LoadTest) -> Metrics:
    """What follows from one test; without a queue the percentiles of the latencies follow from the samples."""
    times, order, tally = tested.times, tested.order, tested.tally
    count = len(times.latency_ms)
    found = {
        "throughput_per_s": MetricValue(value=times.answered_per_s, n=len(times.answered_ms)),
        "queries": MetricValue(value=count),
        "served_batch": MetricValue(value=tally.served_batch, n=tally.batches),
        "padding_share": MetricValue(value=tally.padding_share, n=tally.batches),
    }
    if order.scenario is not Scenario.OFFLINE:
        note = QUEUED if order.scenario is Scenario.SERVER else None
        found["latency_mean_ms"] = MetricValue(value=float(np.mean(times.latency_ms)), n=count, note=note)
    if order.scenario is Scenario.SERVER:
        found |= _queued(times.latency_ms)
        found["offered_per_s"] = MetricValue(value=times.offered_per_s, n=count)
        found["client_lag_ms"] = MetricValue(value=_lag_ms(tested), n=count)
    if order.slo:
        late = order.slo.late(times.latency_ms)
        found["late_share"] = MetricValue(value=late / count, n=count)
        found["goodput_per_s"] = MetricValue(value=(count - late) / times.seconds, n=count)
    return found


def _queued(latency_ms: Sequence[float]) -> Metrics:
    """Of one process: each finds a rate of its own, and latencies at different rates are no one distribution."""
    count = len(latency_ms)
    found = {"latency_ms": MetricValue(value=float(np.median(latency_ms)), n=count, note=QUEUED)}
    for rank in _RANKS:
        enough = count >= (needed := PERCENTILE_SAMPLES[rank])
        value = by_rank(latency_ms, rank / 100) if enough else None
        note = QUEUED if enough else f"needs {needed} queries, has {count}"
        found[f"latency_p{rank}_ms"] = MetricValue(value=value, n=count, note=note)
    return found


def series(tested: LoadTest) -> dict[str, list[float]]:
    """The raw times; of a load that comes all at once a latency says only how large it was."""
    if tested.order.scenario is Scenario.OFFLINE:
        return {"answered_ms": tested.times.answered_ms}
    return {"latency_ms": tested.times.latency_ms}


def holds(tested: LoadTest) -> bool:
    """Whether the server kept up, kept the bound, and LoadGen says so too."""
    return all(check.verdict is not Verdict.INVALID for check in _of_server(tested))


def keeps_up(tested: LoadTest) -> bool:
    """Whether it answers as fast as it is asked; else the backlog grows without end."""
    return tested.times.answered_per_s >= KEEPS_UP * tested.times.offered_per_s


def checks(tested: LoadTest) -> tuple[Check, ...]:
    return (*_of_server(tested), *_of_client(tested))


def _of_server(tested: LoadTest) -> Iterator[Check]:
    if tested.order.slo:
        yield _slo(tested)
    if tested.order.scenario is Scenario.SERVER:
        yield _keeps_up(tested)
    yield _loadgen(tested)


def _of_client(tested: LoadTest) -> Iterator[Check]:
    yield _enough_queries(tested)
    if tested.order.scenario is Scenario.SERVER:
        yield _client_lag(tested)


def _slo(tested: LoadTest) -> Check:
    slo, latencies = tested.order.slo, tested.times.latency_ms
    assert slo is not None
    reached = slo.reached(latencies)
    good = reached <= slo.bound_ms
    late = slo.late(latencies) / len(latencies)
    return Check(
        name="slo",
        value=round(reached, 4),
        limit=slo.bound_ms,
        verdict=Verdict.VALID if good else Verdict.INVALID,
        advice=None
        if good
        else f"{slo.name} is {reached:.4g} ms at {_rate(tested.times.offered_per_s)} and misses {slo}, "
        f"with {late:.1%} of the answers late: lower the rate or raise the bound",
    )


def _keeps_up(tested: LoadTest) -> Check:
    offered, answered = tested.times.offered_per_s, tested.times.answered_per_s
    good = keeps_up(tested)
    return Check(
        name="keeps_up",
        value=round(answered / offered, 4),
        limit=KEEPS_UP,
        verdict=Verdict.VALID if good else Verdict.INVALID,
        advice=None
        if good
        else f"the server answers {_rate(answered)} of {_rate(offered)}, so the backlog grows without end: "
        "lower the rate",
    )


def _loadgen(tested: LoadTest) -> Check:
    """LoadGen's own verdict; where the number of queries was asked for, it is not its business."""
    summary = tested.summary
    broken = set(summary.unsatisfied) - (_ABOUT_COUNT if tested.order.exactly else set())
    only_count = bool(tested.order.exactly and summary.unsatisfied and not broken)
    good = summary.valid or only_count
    return Check(
        name="loadgen",
        value="VALID" if summary.valid else "INVALID",
        limit="VALID",
        verdict=Verdict.VALID if good else Verdict.INVALID,
        advice=None if good else _loadgen_reasons(tested, sorted(broken)),
    )


def _loadgen_reasons(tested: LoadTest, broken: list[str]) -> str:
    said = " ".join(tested.summary.errors or tested.summary.advice)
    reasons = f"{', '.join(broken)} not satisfied" if broken else "for no reason that is known here"
    return f"LoadGen says INVALID: {reasons}{f' ({said})' if said else ''}"


def _enough_queries(tested: LoadTest) -> Check:
    count, enough = len(tested.times.latency_ms), tested.order.enough
    if tested.order.scenario is Scenario.OFFLINE or count >= enough:
        return Check(name="queries", value=count)
    return Check(
        name="queries",
        value=count,
        limit=enough,
        verdict=Verdict.AMBIGUOUS,
        advice=f"too few queries to tell {tested.order.rank}: leave out --samples",
    )


def _client_lag(tested: LoadTest) -> Check:
    """Latency counts from the schedule, so a late client makes the server look slow, never fast."""
    slo = tested.order.slo
    against = slo.bound_ms if slo else float(np.median(tested.times.latency_ms))
    lag, limit = _lag_ms(tested), LAG_SHARE * against
    verdict = Verdict.VALID if lag <= limit else Verdict.AMBIGUOUS
    if slo and lag > STRONG_LAG_SHARE * against:
        verdict = Verdict.INVALID
    advice = None if lag <= limit else f"queries were sent up to {lag:.3g} ms late: stop other programs or free a core"
    return Check(name="client_lag", value=round(lag, 4), limit=round(limit, 4), verdict=verdict, advice=advice)


def _rate(per_s: float) -> str:
    return format_value("offered_per_s", per_s)


def _lag_ms(tested: LoadTest) -> float:
    return float(np.quantile(tested.times.lag_ms, 0.99))
