"""The memory pass: peak and mean memory of the step, in a pass of its own so that no sample pays for it."""

from __future__ import annotations

import resource
import statistics
import sys
import time
from pathlib import Path

import psutil

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import CountsMemory, Session, Step
from modeldyno.core.types import MetricValue

MB = 2**20
LONG_ENOUGH_S = 0.5
"""Slow steps repeat what the first one showed."""
STATUS = Path("/proc/self/status")
CLEAR = Path("/proc/self/clear_refs")


def memory_pass(session: Session, step: Step, policy: Policy) -> dict[str, MetricValue]:
    """Memory metrics over a few steps; the device's own where it has memory of its own."""
    meter = session.memory_meter() if isinstance(session, CountsMemory) else None
    was_reset = _reset_peak()
    if meter:
        meter.reset()
    readings: list[float] = []
    begin = time.perf_counter()
    while len(readings) < policy.memory_steps and (not readings or time.perf_counter() - begin < LONG_ENOUGH_S):
        session.lap(step, 1)
        readings.append(meter.sample() if meter else psutil.Process().memory_info().rss / MB)
    host = MetricValue(value=_peak_mb(), n=len(readings), note=None if was_reset else "peak since the process began")
    metrics = {
        "memory_average_mb": MetricValue(value=statistics.fmean(readings), n=len(readings)),
        "memory_host_peak_mb": host,
    }
    if meter:
        return metrics | meter.metrics()
    note = "; ".join(filter(None, ["resident memory of the worker", host.note]))
    return metrics | {"memory_peak_mb": host.model_copy(update={"note": note})}


def _reset_peak() -> bool:
    """Set the kernel's high-water mark back to the present; not everybody may."""
    try:
        CLEAR.write_text("5")
    except OSError:
        return False
    return True


def _peak_mb() -> float:
    try:
        for line in STATUS.read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
    except OSError:
        pass
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / MB if sys.platform == "darwin" else peak / 1024
