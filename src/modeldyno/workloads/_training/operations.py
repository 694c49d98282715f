"""How much arithmetic a training step is, and the share of the device's own matrix rate that it reaches."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from modeldyno.core.errors import Unsupported, is_out_of_memory
from modeldyno.core.types import MetricValue
from modeldyno.workloads._hardware.place import Place
from modeldyno.workloads._hardware.probes import PROBES
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.trainer import Trainer

_TIMES = 3


def compute_metrics(setup: Setup, trainer: Trainer, step_ms: float) -> dict[str, MetricValue]:
    """Operations of a step, the matrix rate measured now and the share of it, or why they cannot be counted."""
    few = setup.lesson.least
    try:
        gflop = _gflop(setup, trainer)
    except Exception as error:  # a model may do what cannot be followed; the count is optional
        if is_out_of_memory(error):
            raise
        told = (str(error).strip().splitlines() or ["no message"])[0]
        note = f"operations cannot be counted: {type(error).__name__}: {told}"
        return {"mfu": MetricValue(value=None, note=note)}
    if not gflop:
        return {"mfu": MetricValue(value=None, note="no operation of this model is one that can be counted")}
    gflop *= setup.case.batch * setup.settings.accumulate / few
    metrics = {"compute_gflop": MetricValue(value=gflop, note=f"counted on {few} item(s), in proportion to all")}
    rate, size = _matrix_rate(setup)
    if rate:
        peak = f"products of {size} x {size} in {_format(setup)}"
        metrics["matrix_rate_gflops"] = MetricValue(value=rate, note=f"best of {_TIMES} {peak}")
        share = gflop / step_ms * 1e3 / rate
        metrics["mfu"] = MetricValue(value=share, note=f"of {rate:.4g} GFLOP/s, {peak}, measured beside it")
    return metrics


def _gflop(setup: Setup, trainer: Trainer) -> float:
    """Forward and backward as in evaluation: what is computed again to save memory is no work of the model."""
    from torch.nn.attention import SDPBackend, sdpa_kernel
    from torch.utils.flop_counter import FlopCounterMode

    lesson = setup.small_lesson()  # attention that is spelled out takes memory
    tensors = setup.site.tensors(lesson.batch(0))
    trainer.model.eval()
    try:
        # Fused attention on the host is not counted; spelled out it is plain matrix products. So it is with experts.
        with sdpa_kernel(SDPBackend.MATH), _plain_experts(trainer.model), FlopCounterMode(display=False) as counter:
            lesson.forward(trainer.model, tensors).loss.backward()
    finally:
        trainer.model.train()
        trainer.clear()
    return float(counter.get_total_flops()) / 1e9


@contextmanager
def _plain_experts(model: Any) -> Iterator[None]:
    if not (hasattr(model, "_can_set_experts_implementation") and model._can_set_experts_implementation()):
        yield
        return
    before = model.config._experts_implementation
    model.set_experts_implementation("eager")
    try:
        yield
    finally:
        model.set_experts_implementation(before)


def _format(setup: Setup) -> str:
    return setup.settings.autocast or setup.case.precision


def _matrix_rate(setup: Setup) -> tuple[float, int]:
    """The best rate over the sizes that do not take too long here, and the size it was reached at."""
    import torch

    formats = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
    place = Place(torch, setup.bench.session, setup.site.address, formats[_format(setup)])
    probe, session = PROBES["matmul"], setup.bench.session
    best = (0.0, 0)
    for size in probe.sizes:
        try:
            ready = probe.make(place, size)
        except Unsupported:
            break
        session.lap(ready.step, 1)
        shortest = min(session.lap(ready.step, 1).host_ns for _ in range(_TIMES))
        best = max(best, (ready.work["compute_gflop"] / shortest * 1e9, size))
    return best
