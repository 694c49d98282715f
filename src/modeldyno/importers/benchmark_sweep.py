"""Sweeps over batch and sequence: family, model, hardware, then `batch_4_seq_128` with times in seconds."""

from __future__ import annotations

import re
import statistics
from collections.abc import Iterator
from typing import Any

from modeldyno.core.types import MetricValue, Status
from modeldyno.importers._document import Document
from modeldyno.importers._evidence import flagged
from modeldyno.importers._facts import as_dict, as_list, as_text, device_of, host_of
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import moment_of, number_of, platform_of, truth_of

_AXIS = re.compile(r"([a-z_]+?)_?(\d+)")
_AXES = {"batch": "batch", "b": "batch", "batch_size": "batch", "seq": "seq", "s": "seq", "sequence_length": "seq"}


class BenchmarkSweep:
    name = "benchmark-sweep"
    about = "hardware benchmark runners that nest benchmarks by family, model and hardware"

    def recognises(self, document: Document) -> bool:
        return isinstance(document.data, dict) and isinstance(document.data.get("benchmarks"), dict)

    def read(self, document: Document, sheet: Sheet) -> None:
        system = document.data.get("system_info")
        started = moment_of(document.data.get("timestamp")) or moment_of(as_dict(system).get("timestamp"))
        run = sheet.run(started_at=started, host=host_of(system), name=as_text(document.data.get("name")))
        for place, family, model, hardware, entry in _entries(document.data["benchmarks"]):
            if isinstance(entry, dict):
                self._read_entry(sheet, run, system, place, family, model, hardware, entry)
            else:
                sheet.reject(place, "is no object with benchmark results")

    def _read_entry(
        self,
        sheet: Sheet,
        run: str,
        system: Any,
        place: str,
        family: str,
        model: str,
        hardware: str,
        entry: dict[str, Any],
    ) -> None:
        """All points of one model on one platform; an entry without points failed as a whole."""
        device, memory = device_of(system, platform_of(hardware) or "")
        load = number_of(entry.get("model_load_time"))
        common: dict[str, Any] = {
            "run": run,
            "model": as_text(entry.get("model_name")) or model,
            "platform": as_text(entry.get("hardware")) or hardware,
            "family": as_text(entry.get("family")) or family,
            "started_at": moment_of(entry.get("timestamp")),
            "device": device,
            "device_memory_mb": memory,
        }
        points = as_dict(entry.get("benchmark_results"))
        for key, point in points.items():
            self._read_point(sheet, f"{place}/{key}", key, as_dict(point), common, load, flagged(entry))
        if not points:
            failed = truth_of(entry.get("status")) is not True
            reason = as_text(entry.get("error")) or "the file has no benchmark results for it"
            if failed:
                sheet.record(place, **common, status=Status.FAILED, reason=reason, evidence=flagged(entry))
            else:
                sheet.reject(place, "says it completed, but has no benchmark results")

    def _read_point(
        self,
        sheet: Sheet,
        place: str,
        key: str,
        point: dict[str, Any],
        common: dict[str, Any],
        load_s: float | None,
        evidence: tuple[str, ...],
    ) -> None:
        axes = _axes(key)
        batch = axes.pop("batch", None)
        if batch is None:
            sheet.reject(place, f"the key '{key}' names no batch size")
            return
        common = {**common, "batch": batch, "shape": axes, "evidence": (*evidence, *flagged(point))}
        if truth_of(point.get("status")) is not True:
            sheet.record(
                place, **common, status=Status.FAILED, reason=as_text(point.get("error")) or "no reason is given"
            )
            return
        samples = [number_of(value) for value in as_list(point.get("latencies"))]
        if any(value is None for value in samples):
            sheet.reject(place, "has a latency that is no number")
            return
        in_ms = [value * 1e3 for value in samples if value is not None]
        sheet.record(
            place,
            **common,
            metrics=_metrics(point, in_ms) | {"load_ms": None if load_s is None else load_s * 1e3},
            samples_ms=in_ms,
            duration_s=number_of(point.get("total_time")) or 0.0,
        )


def _metrics(point: dict[str, Any], samples_ms: list[float]) -> dict[str, Any]:
    """The file's own mean and rate; the median from the raw times."""
    mean = number_of(point.get("avg_latency"))
    iterations = number_of(point.get("iterations"))
    n = len(samples_ms) or (int(iterations) if iterations else None)
    values: dict[str, Any] = {
        "latency_mean_ms": None if mean is None else MetricValue(value=mean * 1e3, n=n),
        "throughput_per_s": point.get("throughput"),
        "memory_peak_mb": point.get("memory_peak_mb") or point.get("memory_usage_mb") or point.get("peak_memory_mb"),
    }
    if samples_ms:
        values["latency_ms"] = MetricValue(value=statistics.median(samples_ms), n=n)
    return {name: value for name, value in values.items() if value is not None}


def _axes(key: str) -> dict[str, int]:
    """`batch_4_seq_128` and `b4_s128` as sizes."""
    found = {_AXES.get(name.strip("_"), name.strip("_")): int(size) for name, size in _AXIS.findall(key)}
    return {name: size for name, size in found.items() if size < 2**31}


def _entries(benchmarks: dict[str, Any]) -> Iterator[tuple[str, str, str, str, Any]]:
    for family, by_model in benchmarks.items():
        for model, by_hardware in as_dict(by_model).items():
            for hardware, entry in as_dict(by_hardware).items():
                yield f"benchmarks/{family}/{model}/{hardware}", family, model, hardware, entry


MEMBER = BenchmarkSweep()
