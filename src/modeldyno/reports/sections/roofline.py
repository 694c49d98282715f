"""What limits the models: records held against the peaks of their own devices."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from modeldyno.analysis.roofline import Bound, Peaks, Roofline, find_peaks, hold_against
from modeldyno.core.types import Record
from modeldyno.reports.cells import (
    CASE_COLUMNS,
    case_cells,
    mark_of,
    number,
    number_column,
    record_row,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.roofline import MOST_POINTS, Plot, Roof, Spot
from modeldyno.reports.charts.roofline import roofline as roofline_chart
from modeldyno.reports.document import Block, Chart, Finding, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

MOST_DEVICES = 3
_WORDS = {
    Bound.COMPUTE: "compute",
    Bound.MEMORY: "memory",
    Bound.LAUNCH: "launch",
    Bound.NONE: "none of them",
    Bound.UNKNOWN: "not known",
}
_SAID = _WORDS | {Bound.LAUNCH: "launches", Bound.NONE: "none of compute, memory and launches"}
_COLUMNS = (
    *CASE_COLUMNS,
    text_column("bound"),
    number_column("of the roofline", "roofline_share"),
    number_column("FLOP/byte", "intensity"),
    text_column("because"),
)


@dataclass(frozen=True)
class _Held:
    """A record and what limits it."""

    record: Record
    peaks: Peaks
    roofline: Roofline

    @property
    def order(self) -> tuple[int, str, str]:
        return tuple(Bound).index(self.roofline.bound), self.record.case.label, self.record.record_id


def roofline(material: Material, _: Part) -> Section | None:
    """A plot for each device that has peaks, and a table of what limits each record."""
    held = sorted(_held(material), key=lambda one: one.order)
    if not held:
        return None
    blocks: tuple[Block, ...] = (*_charts(held), _table(held))
    return Section(name="roofline", title="What limits the models", blocks=blocks, findings=_findings(held))


def _held(material: Material) -> list[_Held]:
    """The peaks are looked up once for each device and precision; records of devices without any are left out."""
    known: dict[tuple[str, str], Peaks] = {}
    held = []
    for record in material.measured:
        if record.device is None or record.value("latency_ms") is None:
            continue
        place = (record.device.fingerprint, record.case.precision)
        if place not in known:
            known[place] = find_peaks(material.probes, record)
        peaks = known[place]
        if peaks.compute or peaks.memory or peaks.launch:
            held.append(_Held(record, peaks, hold_against(record, peaks)))
    return held


def _charts(held: Sequence[_Held]) -> tuple[Chart, ...]:
    """The devices with most records that can be drawn."""
    devices: dict[str, list[_Held]] = {}
    for one in held:
        if one.record.device and _spot(one):
            devices.setdefault(one.record.device.fingerprint, []).append(one)
    ordered = sorted(devices.values(), key=lambda found: (-len(found), _name(found[0]), found[0].record.record_id))
    shown = ordered[:MOST_DEVICES]
    return tuple(_chart(found, place, len(ordered)) for place, found in enumerate(shown, start=1))


def _name(one: _Held) -> str:
    return one.record.device.name if one.record.device else ""


def _spot(one: _Held) -> Spot | None:
    case, rate, intensity = one.record.case, one.roofline.compute.achieved, one.roofline.intensity
    if not rate or not intensity:
        return None
    mark = mark_of(one.record)
    name = f"{case.model} ({mark})" if mark else case.model
    about = f"{case.label}, bound: {_WORDS[one.roofline.bound]}"
    return Spot(name, case.precision, intensity, rate, about)


def _chart(found: Sequence[_Held], place: int, devices: int) -> Chart:
    spots = tuple(spot for one in found if (spot := _spot(one)))
    plot = Plot(_name(found[0]), found[0].record.case.platform, _roofs(found), spots)
    counts = Counter(_WORDS[one.roofline.bound] for one in found)
    told = ", ".join(f"{counts[word]} {word}" for word in _WORDS.values() if counts[word])
    alt = f"Compute rate against intensity of {counted(len(spots), 'record')} on {plot.device}; their bounds: {told}"
    return roofline_chart(f"roofline-{place}", plot, alt, _note(len(spots), devices))


def _roofs(found: Sequence[_Held]) -> tuple[Roof, ...]:
    peaks = {one.record.case.precision: one.peaks for one in found}
    return tuple(
        Roof(precision, one.compute.value, one.memory.value if one.memory else None)
        for precision, one in sorted(peaks.items())
        if one.compute
    )


def _note(spots: int, devices: int) -> str:
    said = [
        "Lines are the device's own measured peaks. The intensity is an estimate: the bytes of a model are taken as "
        "each parameter once, without activations."
    ]
    if spots > MOST_POINTS:
        said.append(f"{MOST_POINTS} of {spots} points, evenly chosen.")
    if devices > MOST_DEVICES:
        said.append(f"The {MOST_DEVICES} of {devices} devices with most records.")
    return " ".join(said)


def _table(held: Sequence[_Held]) -> Table:
    caption = "What limits each record: of the step, the part that one ceiling explains"
    return table("bounds", caption, _COLUMNS, [_row(one) for one in held])


def _row(one: _Held) -> Row:
    roof = one.roofline
    share = number(roof.share, None if roof.share is None else f"{roof.share:.0%}")
    tone = Tone.DOUBT if roof.bound is Bound.UNKNOWN else Tone.PLAIN
    bound = words(_WORDS[roof.bound], tone)
    return record_row(
        one.record, *case_cells(one.record.case), bound, share, number(roof.intensity), words(roof.because)
    )


def _findings(held: Sequence[_Held]) -> tuple[Finding, ...]:
    """How many are limited by what, and the record that comes nearest to its roofline."""
    real = [one for one in held if not mark_of(one.record)]
    if not real:
        return ()
    counts = Counter(one.roofline.bound for one in real)
    told = ", ".join(f"{_SAID[bound]} for {counts[bound]}" for bound in Bound if counts[bound])
    first = Finding(text=f"What limits {counted(len(real), 'record')}, by the peaks of their own devices: {told}.")
    best = max((one for one in real if one.roofline.share), key=lambda one: one.roofline.share or 0.0, default=None)
    if best is None:
        return (first,)
    case, share = best.record.case, (best.roofline.share or 0.0) * 100
    how = f"{case.runtime} {case.precision} batch {case.batch}"
    text = f"Nearest to its roofline is {case.model} on {case.platform} ({how}) with {share:.0f} %."
    return first, Finding(text=text)


MEMBER = roofline
