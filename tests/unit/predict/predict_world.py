"""Constructed results in a real store: times follow from operations and peaks, with an effect of each model."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np

from blank_store import blank_store
from modeldyno.core.types import Case, Device, Host, MetricValue, ModelInfo, Record, Run
from modeldyno.store.store import Store

RUN = Run(host=Host(host_id="h"), command="dyno run", version="0")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
RATES = {"Alpha 100": 20.0, "Beta 200": 60.0, "Gamma 300": 150.0, "Delta 400": 400.0}
"""TFLOP/s of devices that nobody sells."""
FAMILIES = ("oak", "elm", "ash")


def models(count: int = 12) -> list[str]:
    return [f"{FAMILIES[number % len(FAMILIES)]}{number // len(FAMILIES)}" for number in range(count)]


def result(model: str, device: str, **changes: Any) -> Record:
    """Milliseconds by operations over peak, off by what is the model's own and a little that is nobody's."""
    batch, factor, counted = (changes.pop(n, usual) for n, usual in (("batch", 1), ("factor", 1.0), ("counted", True)))
    number = FAMILIES.index(model[:3]) + len(FAMILIES) * int(model[3:])
    gflop = 2.0 * 1.5**number
    own = np.random.default_rng(number).normal(0, 0.2)
    noise = np.random.default_rng([number, list(RATES).index(device), batch]).normal(0, 0.02)
    latency = factor * batch * (gflop / RATES[device] * np.exp(own + noise) + 0.01)
    info = ModelInfo(
        name=model,
        weights="random",
        source=model,
        fingerprint=model,
        gflop=gflop * batch if counted else None,
        parameters=int(gflop * 2e6),
    )
    case = Case(model=model, platform="cuda", runtime="torch", precision="fp16", batch=batch, shape={"seq": 128})
    return Record(
        run_id=RUN.run_id,
        case=case,
        status="ok",
        device=Device(platform="cuda", index=0, name=device),
        model=info,
        metrics={"latency_ms": MetricValue(value=latency)},
        started_at=changes.pop("started_at", BEGIN + timedelta(hours=number)),
        **changes,
    )


def store_of(path: Path, records: Sequence[Record]) -> Store:
    store = blank_store(path / "dyno.duckdb")
    store.add([RUN, *records])
    return store


def whole(batches: Sequence[int] = (1,), **changes: Any) -> list[Record]:
    """12 models on 4 devices; prediction is quicker where no work is counted."""
    places = [(model, device, batch) for model in models() for device in RATES for batch in batches]
    return [result(model, device, batch=batch, **changes) for model, device, batch in places]
