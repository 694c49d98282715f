"""The passport names every reason for doubt, with its value and advice."""

from __future__ import annotations

import dataclasses

import pytest

from modeldyno.core.types import Samples, Stop, Verdict
from modeldyno.measure import host, passport

QUIET = host.Snapshot(
    at_s=0.0,
    own_cpu_s=0.0,
    busy_cpu_s=0.0,
    steal_s=0.0,
    pressure_us=0,
    involuntary_switches=0,
    swapped_bytes=0,
    throttled_periods=0,
    threads=2,
    cores=2,
)
AFTER = dataclasses.replace(QUIET, at_s=10.0, own_cpu_s=15.0, busy_cpu_s=15.5)


def verdicts(after: host.Snapshot) -> dict[str, Verdict]:
    return {check.name: check.verdict for check in passport.host_checks(QUIET, after)}


def test_a_quiet_host_raises_no_doubt() -> None:
    assert set(verdicts(AFTER).values()) == {Verdict.VALID}


@pytest.mark.parametrize(
    ("change", "name"),
    [
        ({"busy_cpu_s": 19.0}, "foreign_load_per_core"),
        ({"steal_s": 0.5}, "steal_share"),
        ({"pressure_us": 5_000_000}, "cpu_pressure_share"),
        ({"involuntary_switches": 1000}, "involuntary_switches_per_s_per_thread"),
        ({"swapped_bytes": 10 * 2**20}, "swapped_mb"),
        ({"throttled_periods": 3}, "cgroup_throttled_periods"),
    ],
)
def test_each_disturbance_is_named(change: dict[str, float], name: str) -> None:
    found = verdicts(dataclasses.replace(AFTER, **change))
    assert [n for n, verdict in found.items() if verdict is Verdict.AMBIGUOUS] == [name]


def test_counters_this_host_lacks_are_left_out() -> None:
    names = verdicts(dataclasses.replace(AFTER, steal_s=None, pressure_us=None, throttled_periods=None))
    assert not {"steal_share", "cpu_pressure_share", "cgroup_throttled_periods"} & set(names)


def test_doubts_from_the_samples() -> None:
    samples = Samples(host_ms=[1.0, 2.0] * 10, wait_ms=[0.5] * 20, stop=Stop.TIME_CAP, steady=False)
    concerns = {c.name: c for c in passport.sample_checks(samples) if c.verdict is Verdict.AMBIGUOUS}
    assert set(concerns) == {"steady_state", "narrow_interval", "spread", "run_queue_wait_share"}
    assert all(check.advice for check in concerns.values())


def test_snapshots_of_this_machine_are_consistent() -> None:
    before = host.snapshot()
    sum(n * n for n in range(2_000_000))
    after = host.snapshot()
    assert after.at_s > before.at_s
    assert after.own_cpu_s >= before.own_cpu_s
    assert after.busy_cpu_s >= before.busy_cpu_s
    assert host.describe_host().host_id == host.describe_host().host_id
