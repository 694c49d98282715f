"""Pairs and verdicts: the right baseline, the nearest record, no verdict by chance."""

from __future__ import annotations

import math
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from modeldyno.analysis.comparable import By
from modeldyno.analysis.compare import compare, default_metric, match_runs, pair_up
from modeldyno.analysis.verdict import Change
from modeldyno.core.errors import UnknownName
from modeldyno.core.types import Case, Device, Host, MetricValue, Passport, Record, Samples, Status

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
dice = np.random.default_rng(7)


def record(latency: float = 10.0, *, platform: str = "cpu", day: int = 0, **changes: Any) -> Record:
    """Three processes around a latency."""
    run, noise = changes.pop("run", "r"), changes.pop("noise", 0.003)
    fields = {"model": "m", "platform": platform, "runtime": "torch"} | changes
    case = Case.model_validate(fields)
    groups = [latency * math.exp(dice.normal(0, noise)) * (1 + dice.gamma(1.5, 0.01, 20)) for _ in range(3)]
    value = float(np.median([np.median(group) for group in groups]))
    return Record(
        run_id=run,
        case=case,
        status="ok",
        started_at=BEGIN + timedelta(days=day),
        device=Device(platform=platform, index=0, name="Chip"),
        passport=Passport(verdict="valid"),
        metrics={
            "latency_ms": MetricValue(value=value),
            "throughput_per_s": MetricValue(value=case.batch * 1e3 / value),
        },
        samples=tuple(Samples(process=i, host_ms=list(g), stop="interval", steady=True) for i, g in enumerate(groups)),
    )


def names(pairs: tuple[tuple[Record, Record], ...], *fields: str) -> list[tuple[Any, ...]]:
    return [tuple(getattr(r.case, field) for r in pair for field in fields) for pair in pairs]


def test_platforms_are_held_against_the_cpu_on_the_same_runtime() -> None:
    records = [
        record(2.0, platform="cuda"),
        record(2.5, platform="cuda", runtime="onnxruntime"),
        record(3.0, platform="openvino", runtime="openvino"),
        record(10.0),
        record(8.0, runtime="onnxruntime"),
    ]
    paired = pair_up(records, By.PLATFORM, "latency_ms")
    assert sorted(names(paired.pairs, "platform", "runtime")) == [
        ("cpu", "onnxruntime", "cuda", "onnxruntime"),
        ("cpu", "onnxruntime", "openvino", "openvino"),  # no openvino on the cpu: the fastest, so as not to flatter
        ("cpu", "torch", "cuda", "torch"),
    ]
    found = compare(paired.pairs, By.PLATFORM, ["latency_ms"])
    assert {one.verdict for one in found} == {"faster"}
    assert sorted(one.gain for one in found) == pytest.approx([8 / 3, 8 / 2.5, 10 / 2], rel=0.1)


def test_a_baseline_without_the_metric_is_taken_last() -> None:
    blind = record(runtime="onnxruntime").model_copy(update={"metrics": {}})
    gpu = record(2.0, platform="cuda", runtime="other")
    for name in ("latency_ms", "throughput_per_s"):
        (pair,) = pair_up([blind, record(10.0), gpu], By.PLATFORM, name).pairs
        assert pair[0].case.runtime == "torch"


def test_the_baseline_can_be_chosen_and_has_to_be_there() -> None:
    records = [record(10.0), record(2.0, platform="cuda"), record(5.0, platform="mps")]
    paired = pair_up(records, By.PLATFORM, "latency_ms", "cuda")
    assert {old.case.platform for old, _ in paired.pairs} == {"cuda"}
    assert [one.verdict for one in compare(paired.pairs, By.PLATFORM, ["latency_ms"])] == ["slower", "slower"]
    with pytest.raises(UnknownName, match="did you mean 'cuda'"):
        pair_up(records, By.PLATFORM, "latency_ms", "cudo")


def test_the_newest_record_of_a_case_counts() -> None:
    records = [record(9.0, day=3, platform="mps"), record(10.0, day=1), record(20.0, day=2), record(5.0, day=0)]
    (pair,) = pair_up(records, By.PLATFORM, "latency_ms").pairs
    assert [round(r.value("latency_ms") or 0) for r in pair] == [20, 9]


def test_batches_are_compared_by_items_per_second_from_the_smallest() -> None:
    assert default_metric(By.BATCH) == default_metric(By.MODEL) == "throughput_per_s"
    records = [record(40.0, batch=16), record(10.0, batch=2), record(10.1, batch=2, precision="bf16")]
    paired = pair_up(records, By.BATCH, "throughput_per_s")
    assert names(paired.pairs, "batch") == [(2, 16)]
    assert [r.case.precision for r in paired.alone] == ["bf16"]
    by_rate, by_time = compare(paired.pairs, By.BATCH, ["throughput_per_s", "latency_ms"])
    assert (by_rate.verdict, by_rate.gain) == ("faster", pytest.approx(2, rel=0.05))
    assert (by_time.verdict, by_time.labels) == ("slower", ("latency_ms is that of a whole batch",))


def test_models_meet_at_the_same_sizes() -> None:
    records = [
        record(model="a", shape={"seq": 8}),
        record(model="a", shape={"seq": 16}),
        record(model="b", shape={"seq": 16}),
        record(model="v"),
        record(model="c", shape={"seq": 32}),
    ]
    paired = pair_up(records, By.MODEL, "throughput_per_s", "a")
    found = {one.new.case.model: one for one in compare(paired.pairs, By.MODEL, ["throughput_per_s"])}
    assert found["b"].old.case.shape == {"seq": 16}
    assert found["v"].labels == (f"the inputs differ: seq {found['v'].old.case.shape['seq']} against no sizes",)
    assert found["c"].verdict == "refused"
    assert found["c"].ratio.value is None


def test_runs_are_matched_case_by_case() -> None:
    old = [record(10.0, run="a"), record(5.0, run="a", batch=8), record(7.0, run="a", model="gone")]
    new = [record(12.0, run="b", batch=8), record(10.0, run="b"), record(7.0, run="b", model="new")]
    paired = match_runs(old, new)
    found = {one.new.case.batch: one for one in compare(paired.pairs, By.RUN, ["latency_ms"], {"latency_ms": 0.05})}
    assert {batch: one.verdict for batch, one in found.items()} == {1: "same", 8: "slower"}
    assert [r.case.model for r in paired.alone] == ["gone", "new"]


def test_two_devices_of_one_platform_keep_to_themselves() -> None:
    other = Device(platform="cpu", index=0, name="Other")
    old = [record(10.0, run="a"), record(5.0, run="a").model_copy(update={"device": other})]
    new = [r.model_copy(update={"run_id": "b"}) for r in old]
    pairs = match_runs(old, new).pairs
    assert [a.device == b.device for a, b in pairs] == [True, True]


def test_equal_devices_of_one_host_keep_to_themselves() -> None:
    old = [record(10.0, run="a", index=0), record(5.0, run="a", index=1)]
    new = [record(5.0, run="b", index=1), record(10.0, run="b", index=0)]
    assert names(match_runs(old, new).pairs, "index") == [(1, 1), (0, 0)]
    by_runtime = [*old, record(4.0, index=1, runtime="x"), record(8.0, index=0, runtime="x")]
    pairs = pair_up(by_runtime, By.RUNTIME, "latency_ms", "torch").pairs
    assert sorted(names(pairs, "index")) == [(0, 0), (1, 1)], "and neither hides the other as an older one"


def test_a_case_that_fails_now_is_told() -> None:
    def failed(one: Record) -> Record:
        return one.model_copy(update={"status": Status.FAILED, "reason": "out of memory", "metrics": {}, "samples": ()})

    old = [record(run="a"), failed(record(run="a", batch=8)), failed(record(run="a", batch=64))]
    new = [failed(record(run="b")), record(run="b", batch=8), failed(record(run="b", batch=64))]
    found = compare(match_runs(old, new).pairs, By.RUN, ["latency_ms"])
    assert [(one.new.case.batch, one.verdict) for one in found] == [(1, "refused"), (8, "refused")]
    assert "is failed: out of memory" in found[0].refused[0]


def test_different_hosts_are_said() -> None:
    pair = (record(run="a"), record(run="b"))
    hosts = {"a": Host(host_id="1", hostname="x"), "b": Host(host_id="2")}
    (one,) = compare([pair], By.RUN, ["latency_ms"], hosts=hosts)
    assert one.labels == ("on different hosts: x against 2",)
    (one,) = compare([pair], By.RUN, ["latency_ms"], hosts=dict.fromkeys("ab", hosts["a"]))
    assert one.labels == ()


def test_a_missing_metric_is_ambiguous_with_its_reason() -> None:
    (one,) = compare([(record(), record(run="b"))], By.RUN, ["energy_j"])
    assert (one.verdict, one.gain) == ("ambiguous", None)
    assert one.labels == ("no energy_j was measured",)


def test_among_many_comparisons_what_may_be_chance_is_ambiguous() -> None:
    """A change that alone would pass is not believed as one of a hundred; a clear one still is."""
    pairs = [(record(noise=0.02), record(noise=0.02, run="b")) for _ in range(150)]
    margin = {"latency_ms": 0.0}
    alone = [p for p in pairs if compare([p], By.RUN, ["latency_ms"], margin)[0].change is not Change.AMBIGUOUS]
    assert alone, "some of 150 equal pairs look like a change"
    clear = (record(10.0), record(20.0, run="b"))
    found = compare([*pairs, clear], By.RUN, ["latency_ms"], margin)
    assert found[-1].change is Change.WORSE
    changed = [one for one in found[:-1] if one.change is not Change.AMBIGUOUS]
    assert len(changed) <= 1
    labelled = [one for one in found if any("may be chance" in label for label in one.labels)]
    assert len(labelled) >= len(alone) - 1


def test_equal_things_are_not_called_different() -> None:
    pairs = [(record(noise=0.01), record(noise=0.01, run="b")) for _ in range(200)]
    verdicts = [one.verdict for one in compare(pairs, By.RUN, ["latency_ms"])]
    assert verdicts.count("faster") + verdicts.count("slower") <= 1


def test_nothing_gives_nothing() -> None:
    paired = pair_up([], By.PLATFORM, "latency_ms", "cpu")
    assert (paired.pairs, paired.alone) == ((), ())
    assert compare([], By.RUN, ["latency_ms"]) == ()
