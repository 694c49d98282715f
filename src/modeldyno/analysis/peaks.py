"""What each device reached in the hardware workload, as a table needs it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from modeldyno.analysis.roofline import HARDWARE, ONE_WAY, Peak, Peaks, beyond_cache, find_peaks
from modeldyno.core.types import Case, Device, Provenance, Record, Status

MOVES = (*ONE_WAY, "to-device", "from-device", "all-reduce")
"""Probes that move values in other ways than a copy inside of the device."""


@dataclass(frozen=True)
class DevicePeaks:
    """The best of one device over the sizes that were measured."""

    device: Device
    """As the newest probe saw it."""
    rates: tuple[tuple[str, Peak], ...]
    """Matrix rate in GFLOP/s by precision."""
    memory: Peak | None
    """GB/s of a copy inside of the device."""
    launch: Peak | None
    """Microseconds until an operation runs."""
    moves: tuple[tuple[str, Peak], ...]
    """GB/s of the other ways to move values, by probe."""


def peaks_by_device(probes: Iterable[Record]) -> dict[str, DevicePeaks]:
    """By the fingerprint of the device; only what was measured, and on no emulator."""
    grouped: dict[str, list[Record]] = {}
    for record in sorted(probes, key=lambda record: (record.started_at, record.record_id)):
        if record.device and not record.device.emulated and _is_measured_probe(record):
            grouped.setdefault(record.device.fingerprint, []).append(record)
    return {fingerprint: _of_device(found) for fingerprint, found in sorted(grouped.items())}


def _is_measured_probe(record: Record) -> bool:
    ok = record.status is Status.OK and record.provenance is Provenance.MEASURED
    return ok and record.case.workload == HARDWARE and not record.case.options


def peaks_in(probes: Sequence[Record], precision: str) -> Peaks:
    """The peaks that a model in this precision is held against; the probes are of one device."""
    newest = probes[-1]
    asked = Case(model="any", platform=newest.case.platform, runtime=newest.case.runtime, precision=precision)
    return find_peaks(probes, newest.model_copy(update={"case": asked}))


def _of_device(found: Sequence[Record]) -> DevicePeaks:
    precisions = sorted({record.case.precision for record in found if record.case.model == "matmul"})
    by_precision = {precision: peaks_in(found, precision) for precision in precisions}
    common = peaks_in(found, found[-1].case.precision)
    device = found[-1].device
    if device is None:
        raise ValueError("probes without a device are no peaks; group them by device first")
    return DevicePeaks(
        device=device,
        rates=tuple((precision, peaks.compute) for precision, peaks in by_precision.items() if peaks.compute),
        memory=common.memory,
        launch=common.launch,
        moves=tuple((way, peak) for way in MOVES if (peak := _move(found, way))),
    )


def _move(found: Iterable[Record], way: str) -> Peak | None:
    rates = [
        Peak(value, record)
        for record in filter(beyond_cache, found)
        if record.case.model == way and (value := record.value("bandwidth_gb_per_s")) is not None and value > 0
    ]
    return max(rates, key=lambda peak: peak.value, default=None)
