"""The devices that the records come from, and what they reached themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from modeldyno.analysis.peaks import DevicePeaks, peaks_by_device
from modeldyno.analysis.roofline import Peak
from modeldyno.core.metrics import format_value, significant
from modeldyno.core.types import Device, Record
from modeldyno.reports.cells import mark_of, number, number_column, table, text_column, trust, words
from modeldyno.reports.charts.layout import unlike
from modeldyno.reports.charts.peaks import Rate, peak_bars
from modeldyno.reports.document import Block, Cell, Finding, Note, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.template import Part

_DEVICES = (
    text_column("platform"),
    text_column("device"),
    number_column("memory", "memory_mb"),
    text_column("driver"),
    text_column("capability"),
    number_column("records"),
)
_PEAKS = (
    text_column("platform"),
    text_column("device"),
    text_column("what", "peak"),
    text_column("precision"),
    number_column("reached", "value"),
    text_column("at size", "size"),
    text_column("conditions", "trust"),
)
_MOVES = {
    "read": "memory, reading only",
    "write": "memory, writing only",
    "to-device": "copy to the device",
    "from-device": "copy from the device",
    "all-reduce": "sum over devices",
}


@dataclass(frozen=True)
class _Seen:
    """One device, as the newest record saw it."""

    device: Device
    mark: str | None
    drivers: tuple[str, ...]
    records: int


def hardware(material: Material, _: Part) -> Section | None:
    """A table of devices; bars and a table of the peaks, where some were measured."""
    seen = _seen((*material.probes, *material.records))
    if not seen:
        return None
    found = peaks_by_device(material.probes).values()
    peaks = sorted(found, key=lambda one: (one.device.platform, one.device.name, one.device.fingerprint))
    blocks: list[Block] = [_device_table(seen)]
    if rates := [rate for one, label in zip(peaks, _labels(peaks), strict=True) for rate in _rates(one, label)]:
        blocks.append(peak_bars(rates))
    blocks.append(_peak_table(peaks) if peaks else _unmeasured(seen))
    return Section(name="hardware", title="Hardware", blocks=tuple(blocks), findings=_findings(peaks))


def _seen(records: Iterable[Record]) -> list[_Seen]:
    grouped: dict[tuple[str, str], dict[str, Record]] = {}
    for record in records:
        if record.device:
            key = (record.device.fingerprint, mark_of(record) or "")
            grouped.setdefault(key, {})[record.record_id] = record
    found = [_one(list(records.values())) for records in grouped.values()]
    return sorted(found, key=lambda one: (one.device.platform, one.device.name, one.mark or "", one.device.fingerprint))


def _one(records: Sequence[Record]) -> _Seen:
    newest = max(records, key=lambda record: (record.started_at, record.record_id))
    drivers = sorted({record.device.driver for record in records if record.device and record.device.driver})
    if newest.device is None:
        raise ValueError("a record without a device tells of none; leave it out")
    return _Seen(newest.device, mark_of(newest), tuple(drivers), len(records))


def _device_table(seen: Sequence[_Seen]) -> Table:
    caption = "Devices that ran the newest record of each series"
    return table("devices", caption, _DEVICES, [_device_row(one) for one in seen])


def _device_row(one: _Seen) -> Row:
    device = one.device
    cells = (
        words(device.platform),
        words(device.name),
        number(device.memory_mb, _memory(device)),
        words(", ".join(one.drivers) or "-"),
        words(device.capability or "-"),
        number(one.records),
    )
    return Row(cells=cells, mark=one.mark)


def _memory(device: Device) -> str | None:
    return None if device.memory_mb is None else f"{significant(device.memory_mb / 1024, 3)} GiB"


def _unmeasured(seen: Sequence[_Seen]) -> Note:
    places = sorted({one.device.platform for one in seen if not one.mark}) or sorted(
        {one.device.platform for one in seen}
    )
    text = f"No peaks of these devices were measured; dyno run hardware --on {','.join(places)} measures them."
    return Note(text=text)


def _labels(peaks: Sequence[DevicePeaks]) -> list[str]:
    """Platform and device; memory, then driver where that repeats, for each device has bars of its own."""
    labels = [f"{one.device.platform} · {one.device.name}" for one in peaks]
    for told in (_memory, lambda device: device.driver):
        seen = Counter(labels)
        labels = [
            f"{label}, {more}" if seen[label] > 1 and (more := told(one.device)) else label
            for label, one in zip(labels, peaks, strict=True)
        ]
    return unlike(labels)


def _rates(one: DevicePeaks, label: str) -> list[Rate]:
    return [Rate(label, precision, one.device.platform, peak.value) for precision, peak in one.rates]


def _peak_table(peaks: Sequence[DevicePeaks]) -> Table:
    rows = [row for one in peaks for row in _peak_rows(one)]
    return table("peaks", "The best that each device reached, over the sizes measured", _PEAKS, rows)


def _peak_rows(one: DevicePeaks) -> list[Row]:
    found: list[tuple[str, str, Peak | None]] = [("matrix rate", "compute_rate_gflops", peak) for _, peak in one.rates]
    found += [("memory bandwidth", "bandwidth_gb_per_s", one.memory), ("launch", "launch_us", one.launch)]
    found += [(_MOVES[way], "bandwidth_gb_per_s", peak) for way, peak in one.moves]
    return [_peak_row(one.device, what, metric, peak) for what, metric, peak in found if peak]


def _peak_row(device: Device, what: str, metric: str, peak: Peak) -> Row:
    case = peak.record.case
    value = Cell(text=format_value(metric, peak.value), value=peak.value)
    cells = (
        words(device.platform),
        words(device.name),
        words(what),
        words(case.precision),
        value,
        words(case.sizes),
        trust(peak.record),
    )
    return Row(cells=cells)


def _findings(peaks: Sequence[DevicePeaks]) -> tuple[Finding, ...]:
    """The highest matrix rate and the highest bandwidth, each with its own caveat."""
    rates = [(peak.value, one.device.name, precision, peak) for one in peaks for precision, peak in one.rates]
    if not rates:
        return ()
    value, name, precision, peak = max(rates, key=lambda item: item[:3])
    said = f"The highest matrix rate is {significant(value / 1000, 3)} TFLOP/s, {name} in {precision}{_caveat(peak)}"
    told = [peak]
    bands = [(one.memory.value, one.device.name, one.memory) for one in peaks if one.memory]
    if bands:
        band, where, memory = max(bands, key=lambda item: item[:2])
        said += f"; the highest memory bandwidth is {significant(band, 3)} GB/s, {where}{_caveat(memory)}"
        told.append(memory)
    return (Finding(text=f"{said}.", tone=Tone.PLAIN if all(one.trusted for one in told) else Tone.DOUBT),)


def _caveat(peak: Peak) -> str:
    if peak.trusted:
        return ""
    return " (measured under doubtful conditions)" if peak.record.passport else " (no passport is known)"


MEMBER = hardware
