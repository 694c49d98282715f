"""The roofline names what limits a step, says when it cannot, and never holds a record against itself."""

from __future__ import annotations

import math
from datetime import UTC, datetime

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from modeldyno.analysis.explain import what_helps
from modeldyno.analysis.roofline import Bound, Peaks, Roofline, find_peaks, hold_against
from modeldyno.core.identity import stable_id
from modeldyno.core.types import Check, Device, Passport, Record, Verdict

DEVICE = Device(platform="cpu", index=0, name="Chip")
CACHE_MB = 32.0
GFLOPS, GB_PER_S, LAUNCH_US = 100.0, 10.0, 2.0


def record(minute: int = 0, case: dict[str, object] | None = None, **changes: object) -> Record:
    values = changes.pop("metrics", {})
    assert isinstance(values, dict)
    moment = datetime(2026, 1, 1, 0, minute, tzinfo=UTC)
    fields = {
        "record_id": stable_id(moment, str(case), str(values)),
        "run_id": "r",
        "case": {"model": "m", "platform": "cpu", "runtime": "torch", **(case or {})},
        "status": "ok",
        "started_at": moment,
        "device": DEVICE,
        "metrics": {name: {"value": value} for name, value in values.items()},
        **changes,
    }
    return Record.model_validate(fields)


def probe(name: str, size: int, minute: int = 0, precision: str = "fp32", **changes: object) -> Record:
    case = {"workload": "hardware", "model": name, "shape": {"size": size}, "precision": precision}
    return record(minute, case, **changes)


def hardware() -> list[Record]:
    placement = {"device": "cpu", "compute_precision": "float32", "details": {"last_level_cache_mb": CACHE_MB}}
    return [
        probe("matmul", 1, metrics={"compute_rate_gflops": GFLOPS * 0.9}),
        probe("matmul", 2, metrics={"compute_rate_gflops": GFLOPS}),
        probe("matmul", 1, precision="bf16", metrics={"compute_rate_gflops": GFLOPS * 4}),
        probe("copy", 1, metrics={"bandwidth_gb_per_s": GB_PER_S}, placement=placement),
        probe("copy", 2, metrics={"bandwidth_gb_per_s": GB_PER_S * 0.9}, placement=placement),
        probe("launch", 1, metrics={"launch_us": LAUNCH_US * 1.1}),
        probe("launch", 2, metrics={"launch_us": LAUNCH_US}),
    ]


def model(parameters: int | None, **changes: object) -> Record:
    info = {"name": "m", "weights": "random", "source": "s", "fingerprint": "f", "parameters": parameters}
    kind = {"architecture": changes.pop("architecture", "vision"), "family": changes.pop("family", "vision")}
    return record(model={**info, **kind}, **changes)


def held(explained: Record, peaks: list[Record] | None = None) -> Roofline:
    return hold_against(explained, find_peaks(hardware() if peaks is None else peaks, explained))


def test_the_peak_is_the_best_over_sizes_in_the_same_precision() -> None:
    peaks = find_peaks(hardware(), model(1))
    assert peaks.compute and peaks.memory and peaks.launch
    assert (peaks.compute.value, peaks.memory.value, peaks.launch.value) == (GFLOPS, GB_PER_S, LAUNCH_US)
    assert peaks.cache_mb == CACHE_MB
    in_bf16 = find_peaks(hardware(), model(1, case={"precision": "bf16"}))
    assert in_bf16.compute and in_bf16.compute.value == GFLOPS * 4
    assert in_bf16.memory and in_bf16.memory.value == GB_PER_S, "bandwidth knows no precision"


def test_the_newest_of_a_series_counts_even_if_it_is_slower() -> None:
    newer = probe("matmul", 2, minute=5, metrics={"compute_rate_gflops": GFLOPS / 2})
    peaks = find_peaks([newer, *hardware()], model(1))
    assert peaks.compute and peaks.compute.value == GFLOPS * 0.9


def test_a_probe_is_held_against_its_other_sizes_only() -> None:
    own = probe("matmul", 2, minute=9, metrics={"compute_rate_gflops": GFLOPS})
    peaks = find_peaks([*hardware(), own], own)
    assert peaks.compute and peaks.compute.value == GFLOPS * 0.9


@pytest.mark.parametrize(
    "changes",
    [
        {"provenance": "simulated"},
        {"status": "invalid"},
        {"device": Device(platform="cpu", index=0, name="Another chip")},
        {"device": None},
        {"case": {"workload": "hardware", "model": "matmul", "options": {"threads": 1}}},
        {"case": {"workload": "inference", "model": "matmul"}},
    ],
)
def test_what_is_no_peak_of_this_hardware_takes_no_part(changes: dict[str, object]) -> None:
    case = changes.pop("case", {"workload": "hardware", "model": "matmul"})
    other = record(1, case, metrics={"compute_rate_gflops": GFLOPS * 9}, **changes)  # type: ignore[arg-type]
    peaks = find_peaks([*hardware(), other], model(1))
    assert peaks.compute and peaks.compute.value == GFLOPS


def test_a_copy_inside_the_cache_is_no_peak_of_the_memory() -> None:
    check = Check(name="beyond_cache", value=0.5, limit=3.0, verdict=Verdict.AMBIGUOUS)
    fast = probe("copy", 9, metrics={"bandwidth_gb_per_s": GB_PER_S * 20}, passport=Passport.of((check,)))
    peaks = find_peaks([*hardware(), fast], model(1))
    assert peaks.memory and peaks.memory.value == GB_PER_S


def test_three_probes_are_named_by_what_they_are() -> None:
    product = probe("matmul", 9, metrics={"latency_ms": 25.0, "compute_gflop": 2.0, "moved_gb": 0.05})
    copy = probe("copy", 9, metrics={"latency_ms": 120.0, "moved_gb": 1.0})
    chain = probe("launch", 9, metrics={"latency_ms": 0.9, "launches": 400.0})
    assert [held(each).bound for each in (product, copy, chain)] == [Bound.COMPUTE, Bound.MEMORY, Bound.LAUNCH]
    assert held(product).share == pytest.approx(0.8)
    assert held(copy).share == pytest.approx(1 / 1.2)
    assert held(chain).launch.share == pytest.approx(0.8 / 0.9)


def test_a_model_is_bound_by_the_larger_of_operations_and_bytes() -> None:
    heavy = held(model(25_000_000, metrics={"latency_ms": 25.0, "compute_gflop": 2.0}))
    assert (heavy.bound, heavy.memory.share) == (Bound.COMPUTE, pytest.approx(0.4))
    assert heavy.intensity == pytest.approx(20)
    assert heavy.attainable_gflops == GFLOPS
    large = held(model(25_000_000, metrics={"latency_ms": 12.0, "compute_gflop": 0.1}))
    assert (large.bound, large.share) == (Bound.MEMORY, pytest.approx(10 / 12))
    assert large.attainable_gflops == pytest.approx(GB_PER_S)
    half = held(model(25_000_000, case={"precision": "bf16"}, metrics={"latency_ms": 12.0, "compute_gflop": 0.1}))
    assert half.memory.share == pytest.approx(5 / 12)


def reader(parameters: int, multiplied: int, latency: float, seq: int | None = 1, **changes: object) -> Roofline:
    """A model for text, so many of whose parameters take part in products."""
    metrics = {"latency_ms": latency, "compute_gflop": 2 * multiplied * (seq or 1) / 1e9}
    shape = {} if seq is None else {"seq": seq}
    return held(model(parameters, family="embedding", case={"shape": shape}, metrics=metrics, **changes))


def test_tables_that_are_looked_up_do_not_make_a_step_memory_bound() -> None:
    """Reading all of 0.4 GB would take 40 ms at 10 GB/s."""
    all_at_work = reader(100_000_000, 100_000_000, 45.0)
    assert (all_at_work.bound, "estimated" in all_at_work.because) == (Bound.MEMORY, True)
    mostly_tables = reader(100_000_000, 20_000_000, 45.0)
    assert mostly_tables.bound is Bound.UNKNOWN
    assert "memory may limit it, but its 89% are only estimated" in mostly_tables.because
    assert reader(100_000_000, 100_000_000, 45.0, seq=None).bound is Bound.UNKNOWN, "without a length nobody knows"
    assert reader(100_000_000, 20_000_000, 100.0).bound is Bound.NONE, "not even with all the tables"


def test_a_copy_may_understate_how_fast_a_device_reads() -> None:
    assert reader(100_000_000, 100_000_000, 52.0).bound is Bound.MEMORY
    assert reader(100_000_000, 100_000_000, 55.0).bound is Bound.UNKNOWN
    copy = probe("copy", 9, metrics={"latency_ms": 180.0, "moved_gb": 1.0})
    assert held(copy).bound is Bound.MEMORY, "a copy is held against copies"
    assert "estimated" not in held(copy).because


def test_what_fits_into_the_cache_is_not_called_memory_bound() -> None:
    small = held(model(1_000_000, metrics={"latency_ms": 0.5, "compute_gflop": 0.001}))
    assert small.memory.share is None
    assert "fit into" in (small.memory.remark or "")
    assert small.bound is Bound.NONE
    assert not small.memory.unknown


def test_bytes_that_memory_could_not_deliver_are_not_believed() -> None:
    sparse = held(model(100_000_000, metrics={"latency_ms": 10.0, "compute_gflop": 0.1}))
    assert (sparse.bound, sparse.memory.share) == (Bound.NONE, None)


@pytest.mark.parametrize(("gap", "bound"), [(9.0, Bound.LAUNCH), (4.0, Bound.LAUNCH), (0.5, Bound.NONE)])
def test_a_device_that_waits_is_launch_bound_and_one_that_works_is_not(gap: float, bound: Bound) -> None:
    """4000 kernels of 2 us take 8 of the 10 ms, but only a device that has pauses waits for them."""
    kernels = [{"name": "k", "kind": "kernel", "calls": 4000, "time_ms": 1.0, "share": 1.0}]
    metrics = {"latency_ms": 10.0, "compute_gflop": 0.1, "launch_gap_ms": gap}
    assert held(model(10_000_000, metrics=metrics, profile=kernels)).bound is bound


def test_operators_of_the_host_count_no_more_than_their_own_time() -> None:
    def bound(share: float, runtime: str = "torch") -> Bound:
        rows = [{"name": "view", "kind": "operator", "calls": 4000, "time_ms": 1.0, "share": share}]
        metrics = {"latency_ms": 10.0, "compute_gflop": 0.1}
        return held(model(1_000_000, case={"runtime": runtime}, metrics=metrics, profile=rows)).bound

    assert bound(0.9) is Bound.LAUNCH
    assert bound(0.1) is Bound.NONE
    assert bound(0.9, "onnxruntime") is Bound.NONE, "another runtime starts operations at another cost"


@pytest.mark.parametrize(
    ("explained", "peaks", "words"),
    [
        (model(1000, metrics={"latency_ms": 1.0, "compute_gflop": 1.0}), [], "no matrix rate in fp32 measured"),
        (model(1000, metrics={"latency_ms": 1.0}), None, "could not be counted"),
        (model(None, metrics={"latency_ms": 1.0, "compute_gflop": 1.0}), None, "not known"),
        (model(1000, metrics={}), None, "no step time"),
        (model(1000, metrics={"latency_ms": 0.0, "compute_gflop": 1.0}), None, "no step time"),
        (
            model(10**9, architecture="mixture-of-experts", metrics={"latency_ms": 1.0, "compute_gflop": 1.0}),
            None,
            "experts",
        ),
        (
            model(10**9, case={"workload": "training"}, metrics={"latency_ms": 1.0, "compute_gflop": 1.0}),
            None,
            "not known",
        ),
    ],
)
def test_without_a_peak_or_a_count_nothing_is_claimed(
    explained: Record, peaks: list[Record] | None, words: str
) -> None:
    roofline = held(explained, peaks)
    assert (roofline.bound, roofline.share) == (Bound.UNKNOWN, None)
    assert words in roofline.because
    assert what_helps(explained, roofline) == ()


def test_a_step_faster_than_the_peak_says_that_the_peak_is_wrong() -> None:
    def computing(share: float) -> Roofline:
        return held(model(1000, metrics={"latency_ms": 10.0, "compute_gflop": share}))

    assert computing(1.1).bound is Bound.COMPUTE
    copying = held(probe("copy", 9, metrics={"latency_ms": 50.0, "moved_gb": 1.0}))
    for fast, ceiling in ((computing(1.2), computing(1.2).compute), (copying, copying.memory)):
        assert (fast.bound, fast.share, fast.attainable_gflops) == (Bound.UNKNOWN, None, None)
        assert "measure the peaks again" in fast.because
        assert ceiling.above_peak


def test_a_record_without_a_step_time_says_that_and_nothing_else() -> None:
    for explained in (model(None, metrics={"throughput_per_s": 5.0}), model(1000, metrics={"throughput_per_s": 5.0})):
        assert held(explained, []).because == "there is no step time"


def test_a_larger_batch_is_ruled_out_only_near_the_peak() -> None:
    def hints(share: float) -> str:
        explained = model(1000, metrics={"latency_ms": 10.0, "compute_gflop": share})
        assert held(explained).bound is Bound.COMPUTE
        return "; ".join(what_helps(explained, held(explained)))

    assert "a larger batch (--batch)" in hints(0.6)
    assert "no more throughput" not in hints(0.6)
    assert "a larger batch (--batch)" not in hints(0.9)
    assert "no more throughput" in hints(0.9)


def test_hints_are_those_that_are_still_open() -> None:
    metrics = {"latency_ms": 25.0, "compute_gflop": 2.0}
    single = model(1000, metrics=metrics)
    assert any("bf16" in hint for hint in what_helps(single, held(single)))
    half = model(1000, case={"precision": "bf16"}, metrics={**metrics, "compute_gflop": 8.0})
    assert held(half).bound is Bound.COMPUTE
    assert not any("bf16" in hint for hint in what_helps(half, held(half)))
    product = probe("matmul", 9, metrics={**metrics, "moved_gb": 0.05})
    assert what_helps(product, held(product)) == (), "a probe is as it is"


numbers = st.one_of(st.none(), st.floats(allow_nan=True, allow_infinity=True))


@example(latency=5e-324, gflop=1e300, gap=float("nan"), rate=5e-324, bandwidth=1e308, launch=1e308)
@given(latency=numbers, gflop=numbers, gap=numbers, rate=numbers, bandwidth=numbers, launch=numbers)
def test_whatever_the_numbers_the_answer_is_finite(
    latency: float | None,
    gflop: float | None,
    gap: float | None,
    rate: float | None,
    bandwidth: float | None,
    launch: float | None,
) -> None:
    given_peaks = [
        probe("matmul", 1, metrics={"compute_rate_gflops": rate}),
        probe("copy", 1, metrics={"bandwidth_gb_per_s": bandwidth}),
        probe("launch", 1, metrics={"launch_us": launch}),
    ]
    metrics = {"latency_ms": latency, "compute_gflop": gflop, "launch_gap_ms": gap}
    roofline = held(model(100_000_000, metrics=metrics), given_peaks)
    told = [roofline.share, roofline.intensity, roofline.attainable_gflops, roofline.idle_share]
    told += [number for ceiling in roofline.ceilings for number in (ceiling.share, ceiling.achieved)]
    assert all(math.isfinite(number) for number in told if number is not None)
    assert roofline.because


def test_nothing_measured_means_no_peaks() -> None:
    assert find_peaks([], model(1)) == Peaks()


def test_reading_alone_is_held_against_reading_and_all_else_against_a_copy() -> None:
    reading = probe("read", 1, metrics={"bandwidth_gb_per_s": GB_PER_S * 1.5})
    read_again = probe("read", 2, metrics={"latency_ms": 70.0, "moved_gb": 1.0})
    for explained, expected in ((read_again, GB_PER_S * 1.5), (model(1), GB_PER_S)):
        peak = find_peaks([*hardware(), reading], explained).memory
        assert peak and peak.value == expected
