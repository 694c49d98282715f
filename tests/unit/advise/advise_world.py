"""Constructed records for advice, in a real store."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from blank_store import blank_store
from modeldyno.core.types import Case, Device, Host, MetricValue, Passport, Record, Run, Verdict
from modeldyno.store.store import Store

RUN = Run(host=Host(host_id="h"), command="c", version="0")
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
_OF_CASE = ("model", "batch", "runtime", "precision", "shape", "options", "workload")


def device(platform: str, name: str, **changes: Any) -> Device:
    return Device(platform=platform, index=0, name=name, **changes)


H100, L4 = device("cuda", "NVIDIA H100 80GB HBM3"), device("cuda", "NVIDIA L4")
XEON = device("cpu", "Xeon 8488C", details={"logical_cores": 4})


def record(on: Device, latency: float, half: float = 0.01, **changes: Any) -> Record:
    """A result with an interval of `half` of its latency to each side."""
    of_case = {name: changes.pop(name) for name in _OF_CASE if name in changes}
    case = Case(**{"model": "tiny-bert", "runtime": "torch", "shape": {"seq": 128}, **of_case}, platform=on.platform)
    near = {"low": latency * (1 - half), "high": latency * (1 + half)} if half else {}
    rate = case.batch * 1e3
    rates = {"low": rate / near["high"], "high": rate / near["low"]} if half else {}
    metrics = {
        "latency_ms": MetricValue(value=latency, **near),
        "throughput_per_s": MetricValue(value=rate / latency, **rates),
        **{name: MetricValue(value=value) for name, value in changes.pop("numbers", {}).items()},
    }
    passport = Passport(verdict=changes.pop("verdict", Verdict.VALID))
    info = changes.pop("info", None)
    made = {
        "run_id": RUN.run_id,
        "model": info,
        "case": case,
        "status": "ok",
        "device": on,
        "metrics": metrics,
        "passport": passport,
    }
    return Record.model_validate({"started_at": BEGIN, "model": changes.pop("info", None), **made, **changes})


def later(old: Record, **changes: Any) -> Record:
    fresh = Record(run_id=RUN.run_id, case=old.case, status="ok").record_id
    return old.model_copy(update={"record_id": fresh, "started_at": old.started_at + timedelta(days=1), **changes})


def store_of(path: Path, records: Iterable[Record]) -> Store:
    store = blank_store(path / "dyno.duckdb")
    store.add([RUN, *records])
    return store
