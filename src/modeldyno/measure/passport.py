"""The passport: every reason to distrust a measurement, with its value, its limit and what to do."""

from __future__ import annotations

from modeldyno.core.types import Check, Samples, Stop, Verdict
from modeldyno.measure import statistics
from modeldyno.measure.host import Snapshot

# Limits of MEASURING's "Host noise"; shares unless the name says otherwise.
STEAL = 0.005
FOREIGN_LOAD_PER_CORE = 0.1
WAIT = 0.02
PRESSURE = 0.1
SWITCHES_PER_S_PER_THREAD = 10.0
SPREAD = 0.10
STRONG_SPREAD = 0.25
NARROW = (Stop.INTERVAL, Stop.SAMPLE_COUNT, Stop.TURNS)
"""Stops that leave the interval as narrow as asked, or that the user or a gate chose."""


def host_checks(before: Snapshot, after: Snapshot) -> tuple[Check, ...]:
    """What the host did between two snapshots."""
    seconds = max(after.at_s - before.at_s, 1e-9)
    own = after.own_cpu_s - before.own_cpu_s
    foreign = max(0.0, after.busy_cpu_s - before.busy_cpu_s - own) / seconds / after.cores
    switches = (after.involuntary_switches - before.involuntary_switches) / seconds / after.threads
    checks = [
        _at_most("foreign_load_per_core", foreign, FOREIGN_LOAD_PER_CORE, "stop other programs and measure again"),
        _at_most("involuntary_switches_per_s_per_thread", switches, SWITCHES_PER_S_PER_THREAD, "free a core"),
        _at_most("swapped_mb", (after.swapped_bytes - before.swapped_bytes) / 2**20, 0.0, "free memory"),
    ]
    if before.steal_s is not None and after.steal_s is not None:
        steal = (after.steal_s - before.steal_s) / seconds / after.cores
        checks.append(_at_most("steal_share", steal, STEAL, "use a host of your own"))
    if before.pressure_us is not None and after.pressure_us is not None:
        pressure = (after.pressure_us - before.pressure_us) / 1e6 / seconds
        checks.append(_at_most("cpu_pressure_share", pressure, PRESSURE, "stop other programs"))
    if before.throttled_periods is not None and after.throttled_periods is not None:
        throttled = after.throttled_periods - before.throttled_periods
        checks.append(_at_most("cgroup_throttled_periods", throttled, 0, "raise the container's CPU limit"))
    return tuple(checks)


def sample_checks(samples: Samples) -> tuple[Check, ...]:
    """What the samples themselves say."""
    host = samples.host_ms
    checks = [
        _flag(
            "steady_state", samples.steady is not False, "the warm-up never settled: use --publish, or look for drift"
        ),
        _flag("narrow_interval", samples.stop in NARROW, "the interval is wider than asked: use --publish"),
        _spread_check(statistics.spread(host)),
        Check(name="stop", value=samples.stop.value),
        Check(name="samples", value=len(host)),
        Check(name="outlier_share", value=round(statistics.outlier_share(host), 4)),
    ]
    total = sum(host)
    if samples.wait_ms and total > 0:
        share = sum(samples.wait_ms) / total
        checks.append(_at_most("run_queue_wait_share", share, WAIT, "other programs took the core: measure again"))
    return tuple(checks)


def _spread_check(value: float) -> Check:
    if value <= SPREAD:
        return Check(name="spread", value=round(value, 4), limit=SPREAD)
    how = "scatter strongly" if value > STRONG_SPREAD else "scatter"
    advice = f"samples {how}: look at their distribution before you trust the median"
    return Check(name="spread", value=round(value, 4), limit=SPREAD, verdict=Verdict.AMBIGUOUS, advice=advice)


def _at_most(name: str, value: float, limit: float, advice: str) -> Check:
    good = value <= limit
    return Check(
        name=name,
        value=round(value, 4),
        limit=limit,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else advice,
    )


def _flag(name: str, good: bool, advice: str) -> Check:
    return Check(
        name=name,
        value=good,
        limit=True,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else advice,
    )
