"""What a larger batch costs and brings."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from modeldyno.analysis.scaling import FEWEST_TO_FIT, KNEE_GAIN, Curve, Point, curves
from modeldyno.core.metrics import format_value, significant
from modeldyno.core.types import Case
from modeldyno.reports.cells import (
    MISSING,
    mark_of,
    marked,
    number,
    number_column,
    record_row,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.curves import Size, curve_chart
from modeldyno.reports.charts.layout import MOST_PANELS, evenly
from modeldyno.reports.document import Cell, Finding, Note, Row, Section, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.sections._names import work
from modeldyno.reports.template import Part

MOST_LINES, MOST_SIZES = 12, 12
"""In one panel; and of one line."""
_COLUMNS = (
    text_column("model"),
    text_column("platform"),
    text_column("runtime"),
    text_column("precision"),
    text_column("sizes"),
    text_column("batch sizes"),
    number_column("knee", "knee_batch"),
    number_column("next doubling adds", "gain"),
    number_column("efficiency at the largest", "efficiency"),
    number_column("overhead", "overhead_ms"),
    number_column("marginal cost", "marginal_ms"),
)


def batch_size(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """Lines over the batch size, and where a larger one stops to pay."""
    found = sorted((curve for curve in curves(material.measured) if len(curve.points) > 1), key=_key)
    if not found:
        return None
    shown = _chosen(found)
    note = _note(found, shown)
    charts = (
        curve_chart("batch-latency", "Latency over batch size", "latency_ms", _rows(shown, "latency_ms"), note),
        curve_chart(
            "batch-throughput", "Throughput over batch size", "throughput_per_s", _rows(shown, "throughput_per_s"), note
        ),
    )
    meaning = Note(
        text=f"Up to the knee each doubling of the batch adds at least {KNEE_GAIN:.0%} of throughput. Efficiency: "
        "throughput over that of the smallest batch, as a share of the growth in size. Overhead and marginal cost: the "
        f"line fitted to the latencies, where there are {FEWEST_TO_FIT} sizes and all lie near it."
    )
    return Section(
        name="batch-size",
        title="Batch size",
        blocks=(*charts, table("batch-size", "Knee, efficiency and cost", _COLUMNS, map(_row, found)), meaning),
        findings=_findings(found),
    )


def _case(curve: Curve) -> Case:
    return curve.points[0].record.case


def _key(curve: Curve) -> tuple[str, ...]:
    case = _case(curve)
    plain = (case.model, case.workload, case.sizes, case.target, case.runtime, case.precision)
    return *plain, curve.points[0].record.record_id


def _chosen(found: Sequence[Curve]) -> dict[str, list[Curve]]:
    """For each of the models with most sizes the shape that has most of them."""
    grouped: dict[str, dict[str, list[Curve]]] = {}
    for curve in found:
        grouped.setdefault(_case(curve).model, {}).setdefault(work(_case(curve)), []).append(curve)
    fullest = [max(panels.items(), key=lambda item: (_size(item[1]), item[0])) for panels in grouped.values()]
    ranked = sorted(fullest, key=lambda item: (tuple(-size for size in _size(item[1])), item[0]))
    return dict(ranked[:MOST_PANELS])


def _size(group: Sequence[Curve]) -> tuple[int, int]:
    return max(len(curve.points) for curve in group), len(group)


def _drawn(group: Sequence[Curve]) -> list[Curve]:
    """The best of each platform by throughput, then the second of each, and so on."""
    ranks: Counter[str] = Counter()
    ranked = []
    for curve in sorted(group, key=lambda curve: (-max(point.per_s for point in curve.points), _key(curve))):
        platform = marked(curve.points[0].record)
        ranked.append((ranks[platform], curve))
        ranks[platform] += 1
    return [curve for _, curve in sorted(ranked, key=lambda item: item[0])[:MOST_LINES]]


def _rows(shown: dict[str, list[Curve]], metric: str) -> list[Size]:
    return [
        _point(name, place, curve, point, metric)
        for name, group in shown.items()
        for place, curve in enumerate(_drawn(group))
        for point in _sampled(curve)
    ]


def _sampled(curve: Curve) -> list[Point]:
    """Evenly, but never without the knee."""
    kept = evenly(curve.points, MOST_SIZES)
    knee = next((point for point in curve.points if curve.knee and point.size == curve.knee.size), None)
    if knee is None or any(point.size == knee.size for point in kept):
        return kept
    return sorted([*evenly(curve.points, MOST_SIZES - 1), knee], key=lambda point: point.size)


def _point(panel: str, place: int, curve: Curve, point: Point, metric: str) -> Size:
    record = point.record
    value = point.latency_ms if metric == "latency_ms" else point.per_s
    knee = curve.knee is not None and curve.knee.size == point.size and curve.knee.gain is not None
    return Size(
        panel=panel,
        curve=str(place),
        platform=marked(record),
        runtime=record.case.runtime,
        precision=record.case.precision,
        size=point.size,
        value=value,
        knee=knee,
        made_up=mark_of(record) is not None,
    )


def _note(found: Sequence[Curve], shown: dict[str, list[Curve]]) -> str:
    models = {_case(curve).model for curve in found}
    said = [
        f"A ring marks the knee: the next doubling of the batch adds less than {KNEE_GAIN:.0%} of throughput; "
        "a line without one still gains at its largest size."
    ]
    if len(shown) < len(models):
        said.append(f"The {len(shown)} of {len(models)} models with most batch sizes; the table has more.")
    if len({work(_case(curve)) for curve in found}) > len(models):
        said.append("Of several shapes the one with most batch sizes.")
    if any(len(group) > MOST_LINES for group in shown.values()):
        said.append(f"At most {MOST_LINES} lines for each model: of each platform those with the highest throughput.")
    if any(len(curve.points) > MOST_SIZES for group in shown.values() for curve in group):
        said.append(f"At most {MOST_SIZES} points of each line, spread evenly, the knee among them.")
    return " ".join(said)


def _row(curve: Curve) -> Row:
    first = curve.points[0].record
    case = first.case
    sizes = [point.size for point in curve.points]
    plain = (case.model, case.target, case.runtime, case.precision, case.sizes or "-")
    told = ", ".join(map(str, sizes)) if len(sizes) <= MOST_SIZES else f"{len(sizes)} from {sizes[0]} to {sizes[-1]}"
    return record_row(first, *map(words, plain), words(told), *_knee(curve), _share(curve.points[-1]), *_line(curve))


def _share(point: Point) -> Cell:
    return number(point.efficiency, f"{point.efficiency:.0%}")


def _knee(curve: Curve) -> tuple[Cell, Cell]:
    knee = curve.knee
    if knee is None:
        return MISSING, MISSING
    gain = words("largest measured") if knee.gain is None else number(knee.gain, f"{knee.gain:+.1%}")
    return number(knee.size), gain


def _line(curve: Curve) -> tuple[Cell, Cell]:
    line = curve.line
    if line is None:
        return MISSING, MISSING
    if not line.describes:
        return words("no line", Tone.DOUBT), words("no line", Tone.DOUBT)
    return (
        number(line.overhead_ms, format_value("latency_ms", line.overhead_ms)),
        number(line.marginal_ms, f"{format_value('latency_ms', line.marginal_ms)} per item"),
    )


def _findings(found: Sequence[Curve]) -> tuple[Finding, ...]:
    """The curve that gains most, and the models that stop soonest; of what hardware gave."""
    real = [curve for curve in found if mark_of(curve.points[0].record) is None]
    growing = sorted(real, key=lambda curve: -_growth(curve)[1])
    said = [_gains(curve) for curve in growing[:1] if _growth(curve)[1] > 1 + KNEE_GAIN]
    ended = [curve for curve in real if curve.knee and curve.knee.gain is not None]
    ended.sort(key=lambda curve: (curve.knee.size if curve.knee else 0, -len(curve.points)))
    soonest: dict[str, Curve] = {}
    for curve in ended:
        soonest.setdefault(_case(curve).model, curve)
    return tuple(said + [_stops(curve) for curve in list(soonest.values())[:2]])


def _growth(curve: Curve) -> tuple[Point, float]:
    """The knee, and how many times the throughput of the smallest size it has."""
    first = curve.points[0]
    best = next((point for point in curve.points if curve.knee and point.size == curve.knee.size), first)
    return best, best.per_s / first.per_s


def _place(curve: Curve) -> str:
    case = _case(curve)
    return f"{work(_case(curve))} on {case.platform} ({case.runtime} {case.precision})"


def _gains(curve: Curve) -> Finding:
    best, growth = _growth(curve)
    first = curve.points[0]
    times, longer = significant(growth, 3), significant(best.latency_ms / first.latency_ms, 3)
    text = (
        f"{_place(curve)} gains most from batches: batch {best.size} has {times} times the throughput of batch "
        f"{first.size} at {longer} times the latency{_caveat(curve)}."
    )
    return Finding(text=text, tone=Tone.GOOD)


def _stops(curve: Curve) -> Finding:
    knee = curve.knee
    gain = knee.gain if knee and knee.gain is not None else 0.0
    little = "nothing" if gain <= 0 else f"only {gain:.1%} of throughput per doubling"
    return Finding(text=f"{_place(curve)} gains {little} beyond batch {knee.size if knee else 0}{_caveat(curve)}.")


def _caveat(curve: Curve) -> str:
    said = []
    if len(curve.points) < FEWEST_TO_FIT:
        said.append(f"{len(curve.points)} sizes only")
    if any(point.record.metrics["latency_ms"].low is None for point in curve.points):
        said.append("some with too few samples for an interval")
    if curve.mixed:
        said.append("not all with the same software")
    return f" ({'; '.join(said)})" if said else ""


MEMBER = batch_size
