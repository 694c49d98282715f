"""Forward, backward and optimizer apart, in a pass of its own: each waits for the device, which the step must not."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import Any

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import Session
from modeldyno.workloads._training.trainer import Tensors, Trainer

NS_PER_MS = 1e6
TIME_SHARE = 0.25
"""Of the time that sampling may take."""
_FEWEST = 3


def time_parts(
    session: Session, trainer: Trainer, batches: Sequence[Tensors], policy: Policy
) -> dict[str, list[float]]:
    """Milliseconds of each part in each of some steps, by metric."""
    times: dict[str, list[float]] = {"forward_ms": [], "backward_ms": [], "optimizer_ms": []}
    wanted, deadline = policy.samples or 3 * policy.min_samples, time.perf_counter() + TIME_SHARE * policy.max_time_s
    done = times["forward_ms"]
    while len(done) < _FEWEST or (len(done) < wanted and time.perf_counter() < deadline):
        for name, ns in _one_step(session, trainer, batches).items():
            times[name].append(ns / NS_PER_MS)
    return times


def _one_step(session: Session, trainer: Trainer, batches: Sequence[Tensors]) -> dict[str, int]:
    spent = {"forward_ms": 0, "backward_ms": 0, "optimizer_ms": session.lap(trainer.clear, 1).host_ns}
    losses: list[Any] = []

    def forward(tensors: Tensors) -> Callable[[], None]:
        return lambda: losses.append(trainer.forward(tensors))

    for tensors in batches:
        spent["forward_ms"] += session.lap(forward(tensors), 1).host_ns
        spent["backward_ms"] += session.lap(lambda: trainer.backward(losses.pop()), 1).host_ns
    spent["optimizer_ms"] += session.lap(trainer.update, 1).host_ns
    return spent
