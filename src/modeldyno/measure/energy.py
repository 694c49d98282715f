"""The energy pass: joules of one step over several windows of a counter; no counter, no number."""

from __future__ import annotations

import statistics
import time

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import CountsEnergy, EnergyReading, Session, Step
from modeldyno.core.types import MetricValue


def energy_pass(session: Session, step: Step, policy: Policy) -> dict[str, MetricValue]:
    """Energy per step and mean power, each with the range over the windows."""
    if not policy.energy_windows or not isinstance(session, CountsEnergy) or session.energy() is None:
        return {}
    windows = [_window(session, session, step, policy.energy_window_s) for _ in range(policy.energy_windows)]
    joules = [window[0] for window in windows]
    watts = [window[1] for window in windows]
    source = windows[0][2]
    return {"energy_j": _over(joules, source), "power_w": _over(watts, source)}


def _window(session: Session, counter: CountsEnergy, step: Step, seconds: float) -> tuple[float, float, str]:
    """Joules per step, watts and the source of one window."""
    before, begin, steps = _reading(counter), time.perf_counter(), 0
    batch = 1
    while (elapsed := time.perf_counter() - begin) < seconds:
        session.lap(step, batch)
        steps += batch
        # Fewer synchronisations keep the device as busy as in real use.
        batch = max(1, min(64, int(0.1 * steps / max(elapsed, 1e-3))))
    elapsed = time.perf_counter() - begin
    after = _reading(counter)
    joules = after.joules - before.joules
    return joules / steps, joules / elapsed, after.source


def _reading(counter: CountsEnergy) -> EnergyReading:
    reading = counter.energy()
    if reading is None:
        raise RuntimeError("the energy counter stopped answering in the middle of a window")
    return reading


def _over(values: list[float], source: str) -> MetricValue:
    return MetricValue(
        value=statistics.median(values),
        low=min(values),
        high=max(values),
        n=len(values),
        note=f"{source}; range over {len(values)} windows",
    )
