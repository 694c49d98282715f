"""Made-up records for tests of reports, in a real store; the numbers follow from the names: always the same."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from blank_store import blank_store
from modeldyno.core.types import (
    Case,
    Check,
    Device,
    Host,
    MetricValue,
    ModelInfo,
    Passport,
    Record,
    Run,
    Samples,
    Status,
    Stop,
    Verdict,
)
from modeldyno.store.store import Store

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
HOST = Host(host_id="h1", hostname="bench", system="Linux 6.1", cpu="A CPU", logical_cores=8, memory_mb=16384)
SPEED = {"cpu": 1.0, "openvino": 1.4, "cuda": 12.0, "rocm": 9.0, "mps": 4.0, "qnn": 2.5, "webnn": 0.8, "webgpu": 3.0}
"""How many times as fast as the cpu."""
FAMILIES = ("embedding", "text_generation", "vision", "audio", "multimodal")
ARCHITECTURES = ("encoder-only", "decoder-only", "vision", "speech", "multimodal")


def a_run(number: int = 0, **changes: Any) -> Run:
    """The one of that day."""
    started = NOON + timedelta(days=number)
    told = {
        "run_id": f"run-{number:04}",
        "started_at": started,
        "host": HOST,
        "command": "dyno run suite.yaml",
        "version": "0.1.0",
        "commit": f"{number:040x}",
    }
    return Run.model_validate(told | changes)


def a_record(run: Run, model: str = "alpha", platform: str = "cpu", **changes: Any) -> Record:
    """An ok record; `scale` makes it slower, `case` holds changes of the case, all else replaces a field."""
    scale, case = changes.pop("scale", 1.0), changes.pop("case", {})
    size = 1 + sum(map(ord, model)) % 17
    usual = {"model": model, "platform": platform, "runtime": "torch", "shape": {"seq": 128}}
    told = Case.model_validate(usual | case)
    latency = scale * (2.0 + size * math.sqrt(told.batch)) / SPEED.get(platform, 1.0)
    samples = [latency * (1 + 0.01 * ((7 * number) % 11 - 5)) for number in range(30)]
    fields: dict[str, Any] = {
        "record_id": f"{run.run_id}-{told.key[:12]}-{platform}",
        "run_id": run.run_id,
        "case": told,
        "status": Status.OK,
        "started_at": run.started_at + timedelta(minutes=len(model)),
        "device": Device(platform=platform, index=0, name=f"A {platform} device", memory_mb=16384, driver="1.0"),
        "model": ModelInfo(
            name=model,
            architecture=ARCHITECTURES[size % len(ARCHITECTURES)],
            family=FAMILIES[size % len(FAMILIES)],
            parameters=size * 10_000_000,
            size="small" if size < 8 else "base",
            weights="random",
            source="made up",
            fingerprint=model,
        ),
        "passport": Passport.of((Check(name="steal", value=0.0, limit=0.01, verdict=Verdict.VALID),)),
        "metrics": {
            "latency_ms": MetricValue(value=latency, low=latency * 0.98, high=latency * 1.02, n=30),
            "throughput_per_s": MetricValue(value=told.batch * 1000 / latency, n=30),
            "memory_peak_mb": MetricValue(value=100.0 + size * 10 + told.batch),
            "compute_gflop": MetricValue(value=size * told.batch * 0.5),
        },
        "samples": (Samples(host_ms=samples, stop=Stop.INTERVAL, steady=True),),
        "software": {"torch": "2.13.0"},
    }
    return Record.model_validate(fields | changes)


def records(
    run: Run, models: Iterable[str], platforms: Iterable[str] = ("cpu", "cuda"), batches: Iterable[int] = (1, 4, 16)
) -> Iterator[Record]:
    """All of them together."""
    places, sizes = tuple(platforms), tuple(batches)
    for model in models:
        for platform in places:
            for batch in sizes:
                yield a_record(run, model, platform, case={"batch": batch})


def a_store(path: Path, *items: Run | Record) -> Store:
    if not items:
        return Store(path)
    store = blank_store(path)
    store.add(items)
    return store


def probe(model: str, platform: str = "cuda", run: Run | None = None, **values: float) -> Record:
    """A made-up peak of a device."""
    case = {"workload": "hardware", "shape": {"size": 4096}}
    metrics = {name: MetricValue(value=value) for name, value in values.items()}
    return a_record(run or a_run(), model, platform, case=case, metrics=metrics).model_copy(update={"model": None})


def peaks(platform: str = "cuda") -> tuple[Record, ...]:
    """Matrix rate, bandwidth, launches and copies of a device."""
    return (
        probe("matmul", platform, compute_rate_gflops=10_000.0, compute_gflop=137.0, latency_ms=13.7),
        probe("copy", platform, bandwidth_gb_per_s=1000.0, moved_gb=1.0, latency_ms=1.0),
        probe("launch", platform, launch_us=5.0, launches=100.0, latency_ms=0.5),
        probe("to-device", platform, bandwidth_gb_per_s=20.0, moved_gb=0.1, latency_ms=5.0),
    )


def wobble(day: int) -> float:
    """A little noise, the same each time."""
    return 1 + 0.002 * ((7 * day) % 11 - 5)


def days(
    count: int, slower: tuple[int, float] = (999, 1.0), model: str = "alpha", **changes: Any
) -> list[Run | Record]:
    """A run for each day; from one of them on slower by a factor."""
    since, factor = slower
    items: list[Run | Record] = []
    for day in range(count):
        run = a_run(day)
        items += [run, a_record(run, model, scale=wobble(day) * (factor if day >= since else 1.0), **changes)]
    return items
