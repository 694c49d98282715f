"""Scaling: the line that made the times is found again, and nothing is concluded from too little."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.analysis.scaling import Curve, curves, fit, training_against_inference
from modeldyno.core.types import Case, MetricValue, Record

BEGIN = datetime(2026, 1, 1, tzinfo=UTC)


def record(latency: float | None, day: int = 0, status: str = "ok", **case: Any) -> Record:
    metrics = (
        {} if latency is None else {"latency_ms": MetricValue(value=latency, low=latency * 0.99, high=latency * 1.01)}
    )
    return Record(
        run_id="r",
        case=Case.model_validate({"model": "m", "platform": "cpu", "runtime": "torch"} | case),
        status=status,
        started_at=BEGIN + timedelta(days=day),
        metrics=metrics,
    )


def over_batches(times: dict[int, float], **case: Any) -> list[Record]:
    return [record(latency, batch=batch, **case) for batch, latency in times.items()]


def only(found: tuple[Curve, ...]) -> Curve:
    (curve,) = found
    return curve


def test_overhead_and_marginal_cost_are_found_again() -> None:
    curve = only(curves(over_batches({batch: 6 + 2 * batch for batch in (1, 2, 4, 8, 16)})))
    assert curve.line is not None
    assert (curve.line.overhead_ms, curve.line.marginal_ms) == pytest.approx((6, 2))
    assert (curve.line.half_performance, curve.line.r_squared) == pytest.approx((3, 1))
    assert [point.size for point in curve.points] == [1, 2, 4, 8, 16]
    assert [point.efficiency for point in curve.points] == pytest.approx([1, 8 / 10, 8 / 14, 8 / 22, 8 / 38])
    assert curve.points[-1].per_s == pytest.approx(16e3 / 38)


def test_one_odd_size_does_not_bend_the_line_but_shows() -> None:
    times = {batch: 6.0 + 2 * batch for batch in (1, 2, 3, 4, 6, 8, 12, 16)}
    line = only(curves(over_batches(times | {4: 60.0}))).line
    assert line is not None
    assert (line.overhead_ms, line.marginal_ms) == pytest.approx((6, 2), rel=0.1)
    assert not line.describes
    assert line.half_performance is None


def test_relative_errors_count_so_that_small_sizes_matter() -> None:
    dice = np.random.default_rng(1)
    sizes = [1, 2, 4, 8, 16, 32, 64, 128]
    found = [fit(sizes, [(5 + size) * float(dice.lognormal(0, 0.03)) for size in sizes]) for _ in range(200)]
    assert np.median([line.overhead_ms for line in found]) == pytest.approx(5, rel=0.05)
    assert np.std([line.overhead_ms for line in found]) < 0.4


def test_the_knee_is_the_last_size_that_pays() -> None:
    flat = only(curves(over_batches({1: 10, 2: 10.5, 4: 12, 8: 23, 16: 45})))
    assert flat.knee is not None
    assert (flat.knee.size, flat.knee.gain) == (4, pytest.approx(2 * 12 / 23 - 1))
    rising = only(curves(over_batches({1: 10, 4: 11, 16: 12})))
    assert rising.knee is not None
    assert (rising.knee.size, rising.knee.gain) == (16, None)
    steps = only(curves(over_batches({1: 10, 16: 10 * 16 / 1.4})))
    assert steps.knee is not None
    assert steps.knee.gain == pytest.approx(1.4**0.25 - 1), "a step of four doublings counts per doubling"


@pytest.mark.parametrize("factor", [0.8, 1.0, 1.5, 4.0])
@pytest.mark.parametrize("odd", [2, 4, 8])
def test_one_odd_size_does_not_move_the_knee(odd: int, factor: float) -> None:
    times = {1: 10.0, 2: 10.5, 4: 11.5, 8: 14.0, 16: 20.0, 32: 40.0, 64: 80.0}
    curve = only(curves(over_batches(times | {odd: times[odd] * factor})))
    assert curve.knee is not None
    assert curve.knee.size == 16


def test_records_without_a_device_are_kept_apart_by_run() -> None:
    records = over_batches({1: 10, 2: 12})
    records += [r.model_copy(update={"run_id": "other"}) for r in over_batches({4: 1, 8: 2})]
    assert sorted([p.size for p in curve.points] for curve in curves(records)) == [[1, 2], [4, 8]]


def test_equal_devices_of_one_host_have_a_curve_each() -> None:
    assert len(curves(over_batches({1: 10, 2: 12}) + over_batches({1: 5, 2: 6}, index=1))) == 2


def test_other_software_is_said() -> None:
    old, new = ({"software": {"torch": version, "numpy": "2"}} for version in ("2.8", "2.9"))
    records = [r.model_copy(update=old) for r in over_batches({1: 10, 2: 12})]
    assert only(curves(records)).mixed == ()
    later = [r.model_copy(update=new) for r in over_batches({4: 14})]
    assert only(curves(records + later)).mixed == ("torch 2.8, 2.9",)
    training = record(30.0, workload="training").model_copy(update=new)
    assert training_against_inference([*records, training])[0].mixed == ("torch 2.8, 2.9",)


def test_too_few_sizes_are_said() -> None:
    two = only(curves(over_batches({1: 10, 2: 12})))
    assert (two.line, two.no_line) == (None, "a line needs 3 sizes, there are 2")
    one = only(curves(over_batches({1: 10})))
    assert (one.knee, one.no_line) == (None, "a line needs 3 sizes, there is 1")
    assert curves([]) == ()


def test_an_axis_of_the_shape_is_counted_in_its_positions() -> None:
    records = [record(0.1 * seq, batch=2, shape={"seq": seq, "other": 3}) for seq in (32, 64, 128)]
    curve = only(curves([*records, record(5.0)], "seq"))
    assert [point.per_s for point in curve.points] == pytest.approx([2 * 1e4] * 3)
    assert curve.line is not None
    assert curve.line.marginal_ms == pytest.approx(0.1)


def test_what_differs_otherwise_gets_a_curve_of_its_own() -> None:
    records = over_batches({1: 10, 2: 12}) + over_batches({1: 5, 2: 6}, precision="bf16")
    records += over_batches({1: 7}, runtime="onnxruntime") + over_batches({1: 9}, shape={"seq": 8})
    assert sorted(len(curve.points) for curve in curves(records)) == [1, 1, 2, 2]


def test_the_newest_good_record_of_a_size_counts() -> None:
    records = [record(12.0, day=2), record(10.0, day=1), record(99.0, day=3, status="failed"), record(None, day=4)]
    records += [record(odd, day=5) for odd in (float("nan"), float("inf"), 0.0, -1.0)]
    assert [point.latency_ms for point in only(curves(records)).points] == [12.0]


def test_training_is_held_against_inference_of_the_same_case() -> None:
    records = [
        record(10.0, batch=8),
        record(30.0, batch=8, workload="training"),
        record(5.0, batch=4, workload="training"),
    ]
    (pair,) = training_against_inference(records)
    assert pair.ratio.value == pytest.approx(3)
    assert pair.ratio.interval is not None
    assert pair.ratio.interval.low < 3 < pair.ratio.interval.high


@given(st.dictionaries(st.integers(1, 4096), st.floats(1e-3, 1e5), min_size=3, max_size=8))
def test_any_times_give_finite_answers(times: dict[int, float]) -> None:
    curve = only(curves(over_batches(times)))
    assert curve.line is not None
    assert np.isfinite([curve.line.overhead_ms, curve.line.marginal_ms, curve.line.worst]).all()
    assert 0 <= curve.line.r_squared <= 1
    assert curve.line.half_performance is None or curve.line.half_performance >= 0
