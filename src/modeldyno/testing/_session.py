"""Judges of an open session: its stopwatch first, then each ability it offers."""

from __future__ import annotations

import importlib.util
import json
from collections.abc import Callable
from functools import partial
from time import perf_counter, perf_counter_ns
from typing import Any

from modeldyno.core.metrics import METRICS
from modeldyno.core.protocols import (
    CountsEnergy,
    CountsMemory,
    ReportsState,
    RunsOnnxruntime,
    RunsOpenvino,
    RunsTorch,
    Session,
    TimesDevice,
)
from modeldyno.core.types import Check, Verdict
from modeldyno.testing._verdict import NotApplicable, require

_BUSY_S = 0.01
_TENSOR_MB = 64
_WORK_S = 0.02
"""Long enough that reading the result back is short against it."""


def stopwatch_measures_known_work(session: Session) -> None:
    """Steps that keep the host busy for 10 ms each; the best of several laps, since hosts are shared."""
    lap_s = min(session.lap(_busy, 3).host_ns for _ in range(5)) / 1e9
    require(lap_s >= 3 * _BUSY_S * 0.99, f"3 steps of {_BUSY_S} s take {lap_s} s by the stopwatch")
    require(lap_s <= 3 * _BUSY_S * 3, f"3 steps of {_BUSY_S} s take {lap_s} s by the stopwatch")


def stopwatch_grows_with_count(session: Session) -> None:
    one = min(session.lap(_busy, 1).host_ns for _ in range(3))
    four = min(session.lap(_busy, 4).host_ns for _ in range(3))
    require(0 < one < four, f"1 step takes {one} ns, 4 take {four} ns")
    require(2.5 < four / one < 8, f"4 steps take {four / one:.2f} times as long as 1")


def lap_runs_every_step(session: Session) -> None:
    calls: list[int] = []
    session.lap(lambda: calls.append(1), 7)
    require(len(calls) == 7, f"lap(step, 7) runs it {len(calls)} times")


def lap_waits_for_the_device(session: Session) -> None:
    """Reading the result right after a lap must be quick: the work was done inside it."""
    torch, address = _torch(session)
    step, result = _matrix_work(session, torch, address)
    lap_s = session.lap(step, 1).host_ns / 1e9
    started = perf_counter()
    float(result()[0, 0].item())
    tail_s = perf_counter() - started
    require(tail_s < 0.5 * lap_s + 0.005, f"{tail_s:.4f} s of work was left after a lap of {lap_s:.4f} s")


def device_lap_times_the_device(session: Session) -> None:
    if not isinstance(session, TimesDevice):
        raise NotApplicable("it does not time the device apart from the host")
    torch, address = _torch(session)
    step, _ = _matrix_work(session, torch, address)
    host_ns = min(session.lap(step, 1).host_ns for _ in range(3))
    for cold in (False, True):
        laps = [session.device_lap(step, cold) for _ in range(5)]
        require(all(lap.host_ns > 0 for lap in laps), "device_lap gives no host time")
        times = [lap.device_ns for lap in laps if lap.device_ns is not None]
        require(times, f"no device time in {len(laps)} laps of plain matrix products (cold={cold})")
        ratio = min(times) / host_ns
        require(0.3 < ratio < 2, f"device time is {ratio:.2f} of the host time of a device-bound step (cold={cold})")


def device_lap_owns_up_to_waiting(session: Session) -> None:
    """A step that waits for the device cannot be queued: no device time, or one that has the whole wait in it."""
    if not isinstance(session, TimesDevice):
        raise NotApplicable("it does not time the device apart from the host")
    torch, address = _torch(session)
    step, result = _matrix_work(session, torch, address)

    def waiting() -> None:
        step()
        float(result()[0, 0].item())

    host_ns = min(session.lap(waiting, 1).host_ns for _ in range(3))
    lap = session.device_lap(waiting, False)
    require(lap.device_ns is None or lap.device_ns > 0.3 * host_ns, f"{lap} for a step of {host_ns} ns")


def memory_is_counted(session: Session) -> None:
    if not isinstance(session, CountsMemory):
        raise NotApplicable("it has no memory of its own to count")
    meter = session.memory_meter()
    meter.reset()
    _judge_metrics(meter.metrics())
    torch, address = _torch(session)
    before = meter.sample()
    tensor = torch.zeros(_TENSOR_MB * 2**20, dtype=torch.uint8, device=address)
    grown = meter.sample() - before
    require(grown > 0.9 * _TENSOR_MB, f"{_TENSOR_MB} MB were allocated, sample() saw {grown:.1f}")
    del tensor
    peak = _peak(meter)
    require(peak > 0.9 * _TENSOR_MB, f"{_TENSOR_MB} MB were allocated, the peak is {peak}")
    meter.reset()
    require(_peak(meter) < peak - 0.5 * _TENSOR_MB, "reset() does not forget the peak")


def energy_is_cumulative(session: Session) -> None:
    if not isinstance(session, CountsEnergy):
        raise NotApplicable("it has no energy counter")
    first = session.energy()
    if first is None:
        raise NotApplicable("its energy counter does not answer here")
    session.lap(_busy, 20)
    second = session.energy()
    require(second is not None, "the energy counter answers once only")
    assert second is not None
    require(second.joules >= first.joules, f"energy falls from {first.joules} to {second.joules} J")
    require({first.source, second.source} <= {"counter", "integrated"}, f"unknown source {first.source!r}")


def state_is_judged(session: Session) -> None:
    if not isinstance(session, ReportsState):
        raise NotApplicable("it does not report its state")
    before = session.state()
    session.lap(_busy, 1)
    after = session.state()
    json.dumps([before, after])
    for value in (*before.values(), *after.values()):
        require(isinstance(value, float | int | str | bool), f"state has {value!r} in it")
    for check in (*session.checks(before, after), *session.checks({}, {})):
        require(isinstance(check, Check), f"checks() gives {check!r}")
        require(check.verdict is Verdict.VALID or check.advice, f"the doubt {check.name} comes without advice")
    require(session.checks({}, {}) == (), "checks() judges what it has no reading of")


def addresses_are_usable(session: Session) -> None:
    if isinstance(session, RunsTorch):
        require(session.torch_device(), "torch_device() is empty")
    if isinstance(session, RunsOpenvino):
        require(session.openvino_device(), "openvino_device() is empty")
    if isinstance(session, RunsOnnxruntime):
        provider, options = session.ort_provider()
        require(provider.endswith("ExecutionProvider"), f"{provider!r} is no execution provider")
        texts = all(isinstance(text, str) for pair in options.items() for text in pair)
        require(texts, f"ONNX Runtime takes its options as text, not {options}")


SESSION_JUDGES: tuple[Callable[[Session], None], ...] = (
    stopwatch_measures_known_work,
    stopwatch_grows_with_count,
    lap_runs_every_step,
    lap_waits_for_the_device,
    device_lap_times_the_device,
    device_lap_owns_up_to_waiting,
    memory_is_counted,
    energy_is_cumulative,
    state_is_judged,
    addresses_are_usable,
)


def _busy() -> None:
    end = perf_counter_ns() + round(_BUSY_S * 1e9)
    while perf_counter_ns() < end:
        pass


def _torch(session: Session) -> tuple[Any, str]:
    if not isinstance(session, RunsTorch) or importlib.util.find_spec("torch") is None:
        raise NotApplicable("PyTorch cannot drive it here")
    import torch

    return torch, session.torch_device()


def _matrix_work(session: Session, torch: Any, address: str) -> tuple[Callable[[], None], Callable[[], Any]]:
    """A step of matrix products that takes the device some 20 ms, and its result."""
    size, rounds = 256, 1
    while True:
        left = torch.full((size, size), 1.0 / size, device=address)
        results = [left]

        def step(left: Any = left, results: list[Any] = results, rounds: int = rounds) -> None:
            for _ in range(rounds):
                results[0] = left @ results[0]

        session.lap(step, 1)
        if session.lap(step, 1).host_ns / 1e9 >= _WORK_S:
            return step, partial(results.__getitem__, 0)
        size, rounds = (size * 2, rounds) if size < 4096 else (size, rounds * 2)


def _judge_metrics(metrics: dict[str, Any]) -> None:
    unknown = set(metrics) - set(METRICS)
    require(not unknown, f"metrics that the table does not have: {sorted(unknown)}")
    for name, metric in metrics.items():
        require(metric.value is not None or metric.note, f"{name} has neither a value nor a note")


def _peak(meter: Any) -> float:
    metrics = meter.metrics()
    _judge_metrics(metrics)
    require("memory_peak_mb" in metrics, "metrics() lacks memory_peak_mb")
    return float(metrics["memory_peak_mb"].value or 0.0)
