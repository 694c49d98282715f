"""A platform is recommended by what was measured; where nothing was, nothing is."""

from __future__ import annotations

from typing import Any

import pytest

from modeldyno.analysis.recommendation import Sureness, recommend
from modeldyno.core.types import Case, Device, MetricValue, ModelInfo, Passport, Provenance, Record, Status, Verdict


def record(model: str, platform: str, ms: float, spread: float = 0.01, **changes: Any) -> Record:
    info = {"architecture": "vision", "size": "base", "parameters": 100} | changes.pop("info", {})
    case = Case(model=model, platform=platform, runtime="torch", **changes.pop("case", {}))
    fields: dict[str, Any] = {
        "record_id": f"{model}-{platform}-{case.batch}-{ms}",
        "run_id": "r",
        "case": case,
        "status": Status.OK,
        "device": Device(platform=platform, index=0, name="Chip"),
        "model": ModelInfo(name=model, weights="random", source="made up", fingerprint=model, **info),
        "passport": Passport(verdict=Verdict.VALID),
        "metrics": {
            "latency_ms": MetricValue(value=ms, low=ms * (1 - spread), high=ms * (1 + spread), n=30),
            "throughput_per_s": MetricValue(value=case.batch * 1000 / ms, n=30),
        },
    }
    return Record.model_validate(fields | changes)


def test_the_platform_that_is_best_for_all_is_clear() -> None:
    found = [record(model, platform, ms) for model in "ab" for platform, ms in (("cpu", 100.0), ("cuda", 1.0))]
    (one,) = recommend(found, "latency_ms")
    assert (one.kind, one.size, one.platform) == ("vision", "base", "cuda")
    assert one.models == ("a", "b")
    assert one.sureness is Sureness.CLEAR
    assert not one.doubtful and not one.close


def test_nothing_measured_gives_nothing() -> None:
    failed = record("a", "cpu", 1.0, status=Status.FAILED, metrics={})
    assert recommend([], "latency_ms") == ()
    assert recommend([failed], "latency_ms") == ()


def test_another_winner_for_some_models_makes_it_contested() -> None:
    times = {"a": (9.0, 1.0), "b": (9.0, 1.0), "c": (1.0, 9.0)}
    found = [
        record(model, name, ms) for model, both in times.items() for name, ms in zip(("cpu", "cuda"), both, strict=True)
    ]
    (one,) = recommend(found, "latency_ms")
    assert (one.platform, one.sureness) == ("cuda", Sureness.CONTESTED)
    assert one.wins == (("cuda", 2), ("cpu", 1))


def test_as_many_winners_on_both_sides_recommend_none() -> None:
    times = {"a": (9.0, 1.0), "c": (1.0, 9.0)}
    found = [
        record(model, name, ms) for model, both in times.items() for name, ms in zip(("cpu", "cuda"), both, strict=True)
    ]
    (one,) = recommend(found, "latency_ms")
    assert one.platform is None
    assert one.sureness is Sureness.CONTESTED


def test_intervals_that_overlap_are_within_error() -> None:
    (one,) = recommend([record("a", "cpu", 10.0, 0.2), record("a", "cuda", 9.9, 0.2)], "latency_ms")
    assert (one.platform, one.sureness, one.close) == ("cuda", Sureness.WITHIN_ERROR, ("a",))


def test_one_platform_alone_has_no_rival_and_no_say_beside_models_with_a_choice() -> None:
    (alone,) = recommend([record("a", "cuda", 1.0)], "latency_ms")
    assert (alone.platform, alone.sureness) == ("cuda", Sureness.UNRIVALLED)
    lone = [record(f"lone-{number}", "cpu", 1.0) for number in range(3)]
    (one,) = recommend([*lone, record("a", "cpu", 9.0), record("a", "cuda", 1.0)], "latency_ms")
    assert (one.platform, one.models) == ("cuda", ("a",))


def test_models_on_different_platforms_were_never_compared() -> None:
    found = [record("a", "cuda", 1.0), record("b", "cuda", 1.0), record("c", "cpu", 1.0)]
    (one,) = recommend(found, "latency_ms")
    assert (one.platform, one.sureness) == (None, Sureness.UNRIVALLED)


@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": Provenance.SIMULATED},
        {"provenance": Provenance.PREDICTED},
        {"device": Device(platform="cuda", index=0, name="x", emulated=True)},
    ],
)
def test_what_no_hardware_gave_has_no_say(changes: dict[str, Any]) -> None:
    (one,) = recommend([record("a", "cpu", 9.0), record("a", "cuda", 1.0, **changes)], "latency_ms")
    assert (one.platform, one.sureness) == ("cpu", Sureness.UNRIVALLED)


def test_the_size_follows_from_the_parameters_where_it_is_not_told() -> None:
    info = {"size": None, "parameters": 500_000_000}
    (one,) = recommend([record("a", "cpu", 1.0, info=info)], "latency_ms")
    assert one.size == "large"
    assert recommend([record("a", "cpu", 1.0, info={"size": None, "parameters": None})], "latency_ms") == ()
    assert recommend([record("a", "cpu", 1.0, info={"architecture": None})], "latency_ms") == ()


def test_doubtful_conditions_are_counted() -> None:
    doubt = {"passport": Passport(verdict=Verdict.AMBIGUOUS)}
    (one,) = recommend([record("a", "cpu", 9.0, **doubt), record("a", "cuda", 1.0)], "latency_ms")
    assert one.doubtful == 1


def test_steps_of_different_batch_sizes_are_not_held_against_each_other() -> None:
    """A step of batch 1 is shorter than one of batch 8 on any platform."""
    found = [
        record("a", "cpu", 2.0, case={"batch": 1}),
        record("a", "cpu", 30.0, case={"batch": 8}),
        record("a", "cuda", 3.0, case={"batch": 8}),
    ]
    (one,) = recommend(found, "latency_ms")
    assert one.platform == "cuda"
