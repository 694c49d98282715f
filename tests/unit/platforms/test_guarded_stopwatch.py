"""The simulated device launches in 5 us and runs at 2 GHz; a step is 10 kernels of 2 us: launch-bound."""

from contextlib import nullcontext

import pytest
from vendor_fakes import LAUNCH_NS, event_class

from modeldyno.platforms._guarded_stopwatch import GUARD_MAX_NS, GuardedStopwatch, Queue


@pytest.fixture
def stopwatch(timeline):
    return GuardedStopwatch(
        Queue(
            synchronize=timeline.synchronize,
            event=lambda: event_class(timeline)(enable_timing=True),
            hold=lambda cycles: timeline.launch("guard", cycles // 2),
            trial_units=1_000_000,
            scope=nullcontext,
            flush=lambda: timeline.launch("flush", 40_000),
        ),
        watch=lambda: timeline.log.append("watch"),
    )


def test_lap_synchronises_before_both_stamps(stopwatch, timeline):
    timeline.launch("earlier work", 10_000_000)
    timeline.log.clear()
    lap = stopwatch.lap(timeline.step(kernels=1, kernel_ns=3_000_000), 2)
    assert timeline.log == ["synchronize", "stamp", "kernel", "synchronize", "kernel", "synchronize", "stamp"]
    assert lap.host_ns == pytest.approx(6_000_000, abs=2 * LAUNCH_NS)
    assert lap.device_ns is None


def test_device_time_is_free_of_launch_latency(stopwatch, timeline):
    step = timeline.step()
    assert stopwatch.lap(step, 1).host_ns >= 10 * LAUNCH_NS
    lap = stopwatch.device_lap(step, cold=False)
    assert lap.device_ns == 10 * 2_000
    assert lap.host_ns == 10 * LAUNCH_NS


def test_a_step_that_keeps_the_device_busy_is_guarded_by_another_step(stopwatch, timeline):
    lap = stopwatch.device_lap(timeline.step(kernels=3, kernel_ns=1_000_000), cold=False)
    assert lap.device_ns == 3_000_000
    assert "guard" not in timeline.log


def test_a_step_that_waits_first_but_then_keeps_the_device_busy_is_timed_by_its_events(stopwatch, timeline):
    def waiting_first():
        timeline.synchronize()
        timeline.step(kernels=3, kernel_ns=1_000_000)()

    lap = stopwatch.device_lap(waiting_first, cold=False)
    assert lap.device_ns == pytest.approx(3_000_000, abs=2 * LAUNCH_NS)
    assert "guard" not in timeline.log


def test_guard_is_queued_first_and_the_flush_lies_outside_the_window(stopwatch, timeline):
    step = timeline.step(kernels=1)
    stopwatch.device_lap(step, cold=True)
    timeline.log.clear()
    lap = stopwatch.device_lap(step, cold=True)
    order = timeline.log[timeline.log.index("guard") :]
    assert order == [
        "guard", "event", "flush", "event", "stamp", "kernel", "stamp", "event", "watch", "synchronize",
    ]  # fmt: skip
    assert lap.device_ns == 2_000


def test_a_guard_that_ended_too_early_is_repeated_with_a_longer_one(stopwatch, timeline):
    step = timeline.step(kernels=300)
    stopwatch.device_lap(timeline.step(kernels=1), cold=False)
    timeline.log.clear()
    lap = stopwatch.device_lap(step, cold=False)
    assert timeline.log.count("guard") > 1
    assert lap.device_ns == 300 * 2_000
    assert stopwatch.missed == 0


def test_a_step_that_waits_for_the_device_has_no_device_time(stopwatch, timeline):
    def waiting():
        timeline.step()()
        timeline.synchronize()

    for _ in range(5):
        assert stopwatch.device_lap(waiting, cold=False).device_ns is None
    assert stopwatch.missed == 5
    timeline.log.clear()
    stopwatch.device_lap(waiting, cold=False)
    assert timeline.log.count("guard") == 1


def test_a_good_step_after_a_hopeless_one_is_timed_again(stopwatch, timeline):
    def waiting():
        timeline.synchronize()

    for _ in range(4):
        stopwatch.device_lap(waiting, cold=False)
    assert stopwatch.device_lap(timeline.step(), cold=False).device_ns == 20_000
    started = timeline.now
    stopwatch.device_lap(timeline.step(), cold=False)
    assert timeline.now - started < GUARD_MAX_NS / 10
