"""What gives a made-up number away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modeldyno.core.types import MetricValue
from modeldyno.importers._words import truth_of

SLACK = 0.25
"""How far latency and throughput of one row may disagree: they are often means of different windows."""
_FLAGS = ("is_simulated", "is_simulation", "simulated", "is_mock", "mock", "mocked", "is_fake")


def check_rates(metrics: Mapping[str, MetricValue], batch: int) -> tuple[str, ...]:
    """Latency of a step and items per second must be two ways to say the same thing."""
    latency = metrics.get("latency_ms") or metrics.get("latency_mean_ms")
    rate = metrics.get("throughput_per_s")
    if not latency or not rate or not latency.value or not rate.value:
        return ()
    expected = batch * 1000 / latency.value
    if abs(rate.value - expected) <= SLACK * expected:
        return ()
    return (
        f"latency {latency.value:g} ms at batch {batch} means {expected:.4g} items/s, "
        f"but the throughput given is {rate.value:.4g}",
    )


def flagged(place: Any) -> tuple[str, ...]:
    """Explicit flags anywhere near the number: `"is_simulated": true`."""
    if not isinstance(place, dict):
        return ()
    found = [f"the file says {name}: {place[name]}" for name in _FLAGS if name in place and truth_of(place[name])]
    for key in ("implementation_type", "implementation", "platform_support", "output", "performance_metrics"):
        inner = place.get(key)
        if isinstance(inner, str) and "mock" in inner.lower():
            found.append(f"the file says {key}: {inner}")
        elif isinstance(inner, dict):
            found += flagged(inner)
    return tuple(dict.fromkeys(found))


def mocked_output(text: str | None) -> tuple[str, ...]:
    """`(MOCK)` in what a program printed."""
    for line in (text or "").splitlines():
        if "(mock)" in line.lower() or "mock implementation" in line.lower():
            return (f"its output says: {line.strip()[:160]}",)
    return ()
