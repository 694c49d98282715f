"""Outcomes of processes become one record whose metrics follow from the raw samples."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Case, Check, MetricValue, Outcome, Passport, Record, Samples, Status, Stop, Verdict
from modeldyno.runner.assemble import assemble

CASE = Case(model="m", platform="cpu", runtime="torch", batch=4)


def outcome(level: float, **changes: object) -> Outcome:
    samples = Samples(host_ms=[level] * 40, stop=Stop.INTERVAL, steady=True, device_ms=[level / 2] * 10)
    fields = {"status": Status.OK, "samples": samples, "passport": Passport.of(()), **changes}
    return Outcome.model_validate(fields)


def build(*outcomes: Outcome) -> Record:
    return assemble("run", CASE, outcomes, datetime.now(UTC), 1.0)


def test_metrics_follow_from_the_samples() -> None:
    record = build(outcome(2.0, metrics={"compute_gflop": MetricValue(value=3.0)}))
    assert record.value("latency_ms") == 2.0
    assert record.value("throughput_per_s") == pytest.approx(2000.0)
    assert record.value("device_time_ms") == 1.0
    assert record.value("launch_gap_ms") == 1.0
    assert record.value("compute_rate_gflops") == pytest.approx(1500.0)
    assert set(record.metrics) <= set(METRICS)


def test_a_percentile_without_enough_samples_says_how_many_it_needs() -> None:
    metric = build(outcome(2.0)).metrics["latency_p99_ms"]
    assert metric.value is None
    assert metric.note == "needs 662 samples, has 40"


def test_a_percentile_of_steps_timed_together_is_not_given() -> None:
    samples = Samples(host_ms=[1.0] * 1000, stop=Stop.INTERVAL, steady=True, steps_per_sample=5)
    metric = build(outcome(1.0, samples=samples)).metrics["latency_p90_ms"]
    assert metric.value is None
    assert "5 are timed together" in (metric.note or "")


def test_a_handful_of_samples_has_no_interval() -> None:
    samples = Samples(host_ms=[1.0, 2.0, 3.0], stop=Stop.TIME_CAP, steady=True)
    latency = build(outcome(1.0, samples=samples)).metrics["latency_ms"]
    assert (latency.value, latency.low, latency.high) == (2.0, None, None)
    assert latency.note == "no interval from 3 samples"


def test_processes_that_disagree_are_a_concern() -> None:
    record = build(outcome(1.0), outcome(2.0), outcome(3.0))
    latency = record.metrics["latency_ms"]
    assert latency.n == 120
    assert latency.value == 2.0
    assert latency.low < 1.0 < 3.0 < latency.high
    assert [check.name for check in record.passport.concerns] == ["process_spread"]


def test_a_record_of_an_interrupted_run_says_so() -> None:
    record = assemble("run", CASE, [outcome(1.0)], datetime.now(UTC), 1.0, processes=3)
    assert [check.name for check in record.passport.concerns] == ["processes"]


def test_metrics_given_once_per_process_carry_their_range() -> None:
    loads = [outcome(1.0, metrics={"load_ms": MetricValue(value=v)}) for v in (10.0, 30.0, 20.0)]
    load = build(*loads).metrics["load_ms"]
    assert (load.value, load.low, load.high, load.n) == (20.0, 10.0, 30.0, 3)
    assert load.note == "range over 3 processes"


def test_a_process_that_fails_decides_and_the_samples_are_kept() -> None:
    record = build(outcome(1.0), Outcome(status=Status.FAILED, reason="boom", remedy="mend"))
    assert record.status is Status.FAILED
    assert record.reason == "boom (after 1 good process)"
    assert record.metrics == {}
    assert len(record.samples) == 1


def test_the_worst_of_each_check_counts() -> None:
    doubt = Check(name="steal", value=0.1, verdict=Verdict.AMBIGUOUS, advice="x")
    fine = Check(name="steal", value=0.0)
    record = build(outcome(1.0, passport=Passport.of((fine,))), outcome(1.0, passport=Passport.of((doubt,))))
    assert record.passport.verdict is Verdict.AMBIGUOUS
    assert [check.value for check in record.passport.checks if check.name == "steal"] == [0.1]


def test_parts_become_metrics_with_percentiles_where_the_table_has_them() -> None:
    gaps = [float(gap) for gap in range(1, 1001)]
    parts = {"token_gap_ms": gaps, "first_token_ms": [20.0] * 40, "loss": [3.0, 2.0, 1.0], "unheard_of": [1.0]}
    samples = Samples(host_ms=[100.0] * 40, parts=parts, stop=Stop.INTERVAL, steady=True)
    record = build(outcome(1.0, samples=samples, metrics={"loss": MetricValue(value=1.0)}))
    assert record.value("token_gap_ms") == pytest.approx(500.5)
    assert record.value("token_gap_p99_ms") == pytest.approx(990, rel=0.01)
    assert record.value("first_token_ms") == 20.0
    assert "first_token_p99_ms" not in record.metrics
    assert record.value("loss") == 1.0, "what the workload says itself comes first"
    assert set(record.metrics) <= set(METRICS)


def test_items_and_tokens_of_a_step_make_the_rates() -> None:
    given = {"items": MetricValue(value=8.0), "tokens": MetricValue(value=100.0)}
    record = build(outcome(2.0, metrics=given))
    assert record.value("throughput_per_s") == pytest.approx(4000.0)
    assert record.value("tokens_per_s") == pytest.approx(50_000.0)


def test_without_steps_only_what_the_workload_gives_and_its_parts() -> None:
    samples = Samples(host_ms=[], parts={"latency_ms": [1.0] * 800}, stop=Stop.TIME_CAP, steady=None)
    record = build(*[outcome(1.0, samples=samples, metrics={"throughput_per_s": MetricValue(value=7.0)})] * 2)
    assert record.value("latency_ms") == 1.0
    assert record.value("latency_p99_ms") == 1.0
    assert record.value("throughput_per_s") == 7.0
    assert record.passport
    assert "process_spread" not in {check.name for check in record.passport.checks}
