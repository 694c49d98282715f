"""What gives a made-up number away."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modeldyno.core.types import MetricValue
from modeldyno.importers._words import number_of, truth_of

SLACK = 0.25
"""How far latency and throughput of one row may disagree: they are often means of different windows."""
_FLAGS = ("is_simulated", "is_simulation", "simulated", "is_mock", "mock", "mocked", "is_fake")


def check_rates(metrics: Mapping[str, MetricValue], batch: int, in_flight: float | None) -> tuple[str, ...]:
    """Steps of this length, so many at once, cannot give more items per second; None: nobody knows how many."""
    given = [metrics[name].value for name in ("latency_ms", "latency_mean_ms") if name in metrics]
    latencies = [value for value in given if value]
    rate = metrics["throughput_per_s"].value if "throughput_per_s" in metrics else None
    if not latencies or not rate or in_flight is None:
        return ()
    possible = in_flight * batch * 1000 / min(latencies)
    if rate <= possible * (1 + SLACK):
        return ()
    return (
        f"steps of {min(latencies):g} ms at batch {batch}, {in_flight:g} at once, give at most {possible:.4g} items/s, "
        f"but the throughput given is {rate:.4g}",
    )


def is_round(value: float) -> bool:
    """A time with at most two significant digits: a clock gives such a one now and then, a programmer always."""
    return float(f"{value:.1e}") == float(f"{value:.12g}")


def check_constants(metrics: Mapping[str, MetricValue], constants: frozenset[float]) -> tuple[str, ...]:
    latency = metrics.get("latency_ms")
    if latency and latency.value is not None and float(f"{latency.value:.12g}") in constants:
        return (f"exactly {latency.value:g} ms stands in several unrelated results",)
    return ()


def per_step(metrics: Mapping[str, Any], batch: int) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Some tools give the latency of one item, some of one batch: the throughput tells which, and ours is per batch."""
    latency = number_of(metrics.get("latency_ms", metrics.get("latency_mean_ms")))
    rate = number_of(metrics.get("throughput_per_s"))
    if batch == 1 or not latency or not rate or abs(rate * latency / 1000 - 1) > SLACK:
        return dict(metrics), ()
    note = f"the file gives {latency:g} ms per item at {rate:g} items/s; a step of {batch} takes {latency * batch:g} ms"
    times = {name: value for name, value in metrics.items() if name.startswith("latency_") and name.endswith("_ms")}
    scaled = {name: value * batch for name, given in times.items() if (value := number_of(given)) is not None}
    return {**metrics, **scaled}, (note,)


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
