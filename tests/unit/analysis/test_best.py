"""The best per model: only comparable, real, measured records compete, and ties are told."""

from __future__ import annotations

import pytest

from modeldyno.analysis.best import best_per_model
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
