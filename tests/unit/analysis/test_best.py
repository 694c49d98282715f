"""The best per model: only comparable, real, measured records compete, and ties are told."""

from __future__ import annotations

import pytest

from modeldyno.analysis.best import best_per_model, both_have_bounds, rivals
from modeldyno.core.types import Case, Device, MetricValue, Passport, Record, Samples, Verdict


def record(platform: str, latency: float, half: float = 0.0, **changes: object) -> Record:
    case_changes = {k: changes.pop(k) for k in ("batch", "precision", "shape", "model") if k in changes}
    case = Case.model_validate({"model": "m", "platform": platform, "runtime": "torch", **case_changes})
    device = Device(platform=platform, index=0, name="Chip", emulated=bool(changes.pop("emulated", False)))
    metrics = {
        "latency_ms": MetricValue(value=latency, low=latency - half, high=latency + half),
        "throughput_per_s": MetricValue(value=case.batch * 1e3 / latency),
    }
    fields = {"run_id": "r", "case": case, "status": "ok", "device": device, "metrics": metrics, **changes}
    return Record.model_validate(fields)


def test_less_is_better_for_latency_and_more_for_throughput() -> None:
    slow, fast, big = record("cpu", 5.0), record("cuda", 2.0), record("cpu", 6.0, batch=8)
    assert [best.record for best in best_per_model([slow, fast, big], "latency_ms")] == [fast]
    assert [best.record for best in best_per_model([slow, fast, big], "throughput_per_s")] == [big]


def test_overlapping_intervals_are_ties() -> None:
    winner, close, far = record("cpu", 5.0, 0.2), record("cuda", 5.3, 0.2), record("mps", 6.0, 0.2)
    (best,) = best_per_model([far, close, winner], "latency_ms")
    assert best.record == winner
    assert best.ties == (close,)


def test_different_work_does_not_compete() -> None:
    records = [record("cpu", 5.0), record("cpu", 1.0, precision="bf16"), record("cpu", 2.0, shape={"seq": 8})]
    assert len(best_per_model(records, "latency_ms")) == 3


@pytest.mark.parametrize(
    "changes",
    [{"provenance": "simulated"}, {"provenance": "predicted"}, {"status": "invalid"}, {"emulated": True}],
)
def test_what_is_not_a_real_measurement_takes_no_part(changes: dict[str, object]) -> None:
    real = record("cpu", 5.0)
    (best,) = best_per_model([real, record("qnn", 0.1, **changes)], "latency_ms")
    assert best.record == real


def test_without_an_interval_nothing_can_be_told_apart() -> None:
    sure, unsure = record("cpu", 5.0, 0.1), record("cuda", 50.0)
    blind = unsure.model_copy(update={"metrics": {"latency_ms": MetricValue(value=50.0)}})
    (best,) = best_per_model([sure, blind], "latency_ms")
    assert best.ties == (blind,)


def test_noise_on_either_side_makes_the_choice_doubtful() -> None:
    valid, ambiguous = Passport(verdict=Verdict.VALID), Passport(verdict=Verdict.AMBIGUOUS)
    quiet, noisy = record("cpu", 5.0, passport=valid), record("cuda", 9.0, passport=ambiguous)
    assert not best_per_model([quiet], "latency_ms")[0].doubtful
    assert best_per_model([quiet, noisy], "latency_ms")[0].doubtful


def test_too_few_samples_for_an_interval_can_still_be_far_off() -> None:
    """Five samples around 50 ms are no tie with 5 ms; five around 5 ms are."""
    sure = record("cpu", 5.0, 0.1)

    def of_few(platform: str, value: float) -> Record:
        samples = Samples(host_ms=[value * 0.9, value, value * 1.1], stop="time_cap", steady=True)
        return record(platform, value).model_copy(
            update={"metrics": {"latency_ms": MetricValue(value=value)}, "samples": (samples,)}
        )

    near, far = of_few("cuda", 5.2), of_few("mps", 50.0)
    (best,) = best_per_model([sure, near, far], "latency_ms")
    assert best.ties == (near,)


def test_rivals_are_the_best_of_each_platform_the_very_best_first() -> None:
    (one,) = rivals([record("cpu", 9.0), record("cpu", 7.0), record("cuda", 2.0)], "latency_ms")
    assert [(rival.case.platform, rival.value("latency_ms")) for rival in one.records] == [("cuda", 2.0), ("cpu", 7.0)]


def test_rivals_have_the_shape_and_the_batch_that_most_platforms_have() -> None:
    """A short sequence or a small batch on one platform is no win over the others."""
    alike = [record("cpu", 30.0, batch=8, shape={"seq": 128}), record("cuda", 3.0, batch=8, shape={"seq": 128})]
    (one,) = rivals(
        [*alike, record("cpu", 1.0, shape={"seq": 128}), record("cpu", 0.5, batch=8, shape={"seq": 16})], "latency_ms"
    )
    assert {rival.case.batch for rival in one.records} == {8}
    assert one.shape == (("seq", 128),)
    assert one.other_shapes == 1


def test_for_rates_the_batch_is_the_choice() -> None:
    (one,) = rivals([record("cpu", 2.0), record("cpu", 4.0, batch=8), record("cuda", 3.0)], "throughput_per_s")
    assert [(rival.case.platform, rival.case.batch) for rival in one.records] == [("cpu", 8), ("cuda", 1)]


def test_rivals_that_no_hardware_gave_stand_beside_those_that_some_did() -> None:
    dreamt = record("cpu", 1.0, provenance="simulated")
    (one,) = rivals([dreamt, record("cpu", 7.0)], "latency_ms")
    assert len(one.records) == 2


@pytest.mark.parametrize("value", [0.0, -5.0, float("inf"), float("nan")])
@pytest.mark.parametrize("name", ["latency_ms", "throughput_per_s"])
def test_what_cannot_be_a_measurement_takes_no_part(value: float, name: str) -> None:
    real = record("cpu", 5.0)
    odd = record("cuda", 1.0).model_copy(update={"metrics": {name: MetricValue(value=value)}})
    assert [best.record for best in best_per_model([odd, real], name)] == [real]
    assert [one.records for one in rivals([odd, real], name)] == [(real,)]


def test_of_single_numbers_it_is_not_known_how_far_off_they_are() -> None:
    sure = record("cpu", 5.0, 0.1)
    blind = record("cuda", 50.0).model_copy(update={"metrics": {"latency_ms": MetricValue(value=50.0)}})
    assert both_have_bounds(sure, sure, "latency_ms")
    assert not both_have_bounds(sure, blind, "latency_ms")
    assert not both_have_bounds(blind, sure, "latency_ms")
