"""`dyno scaling`: what a larger batch or a longer input costs and brings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._newest import LimitOption, newest_records
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.analysis.scaling import Curve, Training
    from modeldyno.core.types import Record


@choosing("status", "model")
def scaling(
    models: Annotated[list[str] | None, typer.Argument(metavar="[MODEL]...", help="Only these models.")] = None,
    over: Annotated[str, typer.Option(help="What grows: batch, or an axis of the shape such as seq.")] = "batch",
    gain: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="The knee: doubling pays while it adds this share of throughput.")
    ] = 0.10,
    choice: Choice = Choice(),
    limit: LimitOption = 5000,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show throughput, efficiency, a fitted line and the knee over batch sizes or sequence lengths."""
    from modeldyno.analysis.scaling import curves, training_against_inference

    opened, names = open_store(store), ",".join(models or [])
    found = newest_records(opened, choice.but(model=names).real_and_ok(), limit)
    _check_axis(over, found)
    made, training = curves(found, over, gain), training_against_inference(found)
    if json:
        documents = [_document(curve) for curve in made]
        print_json({"over": over, "gain": gain, "curves": documents, "training": list(map(_both, training))})
    else:
        _print(made, training, gain)


def _check_axis(over: str, records: Sequence[Record]) -> None:
    from modeldyno.analysis.scaling import BATCH
    from modeldyno.core.errors import UnknownName

    axes = {BATCH, *(axis for record in records for axis in record.case.shape)}
    if records and over not in axes:
        raise UnknownName("axis", over, axes)


def _document(curve: Curve) -> dict[str, Any]:
    points = [
        {"size": p.size, "record_id": p.record.record_id, "latency_ms": p.latency_ms, "per_s": p.per_s}
        | {"efficiency": p.efficiency, "provenance": p.record.provenance.value}
        for p in curve.points
    ]
    line = curve.line
    fitted = {"describes": line.describes, "half_performance": line.half_performance} if line else {}
    return {
        "case": curve.points[0].record.case.model_dump(mode="json"),
        "points": points,
        "line": asdict(line) | fitted if line else None,
        "no_line": curve.no_line,
        "knee": asdict(curve.knee) if curve.knee else None,
        "mixed_software": list(curve.mixed),
    }


def _both(pair: Training) -> dict[str, Any]:
    interval = pair.ratio.interval
    return {
        "case": pair.inference.case.model_dump(mode="json", exclude={"workload"}),
        "training": pair.training.record_id,
        "inference": pair.inference.record_id,
        "ratio": pair.ratio.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "notes": list(pair.ratio.notes),
        "mixed_software": list(pair.mixed),
    }


def _print(made: Sequence[Curve], training: Sequence[Training], gain: float) -> None:
    from modeldyno.cli._tables import new_table

    several = [curve for curve in made if len(curve.points) > 1]
    for curve in several:
        print_line(_title(curve))
        print_table(_table(curve))
        for sentence in _sentences(curve, gain):
            print_line(f"  {sentence}")
    if not several:
        print_line("Nothing to scale: no case was measured at two sizes; try dyno run MODEL --batch 1,2,4,8")
    elif len(several) < len(made):
        print_note(f"{len(made) - len(several)} more cases have a single size.")
    if training:
        table = new_table("Training against inference", ["case", "training step over inference step", "notes"])
        for pair in training:
            table.add_row(pair.inference.case.label, _ratio_text(pair), "; ".join([*pair.ratio.notes, *_mixed(pair)]))
        print_table(table)


def _mixed(one: Curve | Training) -> list[str]:
    return [f"other software: {', '.join(one.mixed)}"] if one.mixed else []


def _ratio_text(pair: Training) -> str:
    interval = pair.ratio.interval
    bounds = f" [{interval.low:.4g}, {interval.high:.4g}]" if interval else ""
    return f"{pair.ratio.value:.4g}{bounds}" if pair.ratio.value is not None else "-"


def _table(curve: Curve) -> Table:
    from modeldyno.cli._tables import metric_text, new_table

    rate = "items/s" if curve.over == "batch" else f"{curve.over}/s"
    table = new_table("", [curve.over, "latency", rate, "efficiency"])
    for point in curve.points:
        cells = (metric_text(point.record, "latency_ms"), f"{point.per_s:.4g}", f"{point.efficiency:.0%}")
        table.add_row(str(point.size), *cells)
    return table


def _title(curve: Curve) -> str:
    """What does not change along the curve; and where the numbers come from, if they were not measured here."""
    from modeldyno.core.types import Provenance

    first = curve.points[0].record
    case = first.case
    parts = [case.model, case.target, case.runtime, case.precision]
    parts += [] if curve.over == "batch" else [f"batch {case.batch}"]
    parts += [f"{axis} {size}" for axis, size in case.shape.items() if axis != curve.over]
    parts += [f"{name}={value}" for name, value in case.options.items()]
    parts += [] if first.provenance is Provenance.MEASURED else [first.provenance.value]
    parts += [] if first.device else [f"unknown device of run {first.run_id}"]
    return " · ".join(parts if case.workload == "inference" else [case.workload, *parts])


def _sentences(curve: Curve, gain: float) -> list[str]:
    said = []
    if line := curve.line:
        text = f"latency = {line.overhead_ms:.4g} ms + {line.marginal_ms:.4g} ms per {curve.over}"
        said.append(f"{text}; R² {line.r_squared:.3f}, at most {line.worst:.1%} off.")
        if not line.describes:
            said.append("A line does not describe these times: look at each size, and measure again what is odd.")
        elif line.half_performance is not None:
            said.append(f"Half of the highest throughput is reached at {curve.over} {line.half_performance:.3g}.")
    if curve.no_line:
        said.append(f"No fitted line: {curve.no_line}.")
    if knee := curve.knee:
        pays = f"Doubling adds at least {gain:.0%} of throughput up to {curve.over} {knee.size}"
        beyond = "the largest measured" if knee.gain is None else f"the next one adds {knee.gain:.1%}"
        said.append(f"{pays}; {beyond}.")
    return said + _mixed(curve)
