"""What people call the work that a case does, and what of it was the choice."""

from __future__ import annotations

from modeldyno.analysis.scaling import INFERENCE
from modeldyno.core.metrics import Direction, metric
from modeldyno.core.types import Case


def work(case: Case) -> str:
    """Model and shape, which stay the same while platform, runtime, precision and batch are the choice.

    The workload is told where it is not the usual one."""
    axes = [f"{axis} {size}" for axis, size in sorted(case.shape.items())]
    return " ".join([*workload(case), case.model, *axes])


def workload(case: Case) -> list[str]:
    return [] if case.workload == INFERENCE else [case.workload]


def free_choice(name: str) -> str:
    """What `rivals` chooses the best of for each platform."""
    if metric(name).direction is Direction.MORE:
        return "runtime, precision and batch size"
    return "runtime and precision at the batch size most platforms have"
