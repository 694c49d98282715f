"""What a training step costs over an inference step of the same case."""

from __future__ import annotations

from collections.abc import Sequence

from modeldyno.analysis.scaling import Training, training_against_inference
from modeldyno.core.metrics import significant
from modeldyno.core.types import Record
from modeldyno.reports.cells import (
    CASE_COLUMNS,
    MISSING,
    candidate,
    case_cells,
    mark_of,
    marked,
    measured,
    number_column,
    record_row,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.layout import evenly
from modeldyno.reports.charts.training import Pair, training_chart
from modeldyno.reports.document import Cell, Finding, Row, Section, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.template import Part

MOST_PAIRS = 40
METRIC = "latency_ms"
_COLUMNS = (
    *CASE_COLUMNS,
    number_column("inference", "inference_ms"),
    number_column("training", "training_ms"),
    number_column("training over inference", "ratio"),
    text_column("notes"),
)


def training(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """Every case that was measured both ways."""
    found = sorted((pair for pair in training_against_inference(material.measured) if pair.ratio.value), key=_key)
    if not found:
        return None
    shown = evenly(found, MOST_PAIRS)
    chart = training_chart(
        "training", "Training against inference", [_pair(one) for one in shown], _note(len(found), len(shown))
    )
    caption = "A training step over an inference step of the same case, with the 95 % interval of the ratio."
    return Section(
        name="training",
        title="Training against inference",
        blocks=(chart, table("training", caption, _COLUMNS, map(_row, found))),
        findings=_findings(found),
    )


def _key(pair: Training) -> tuple[str, str, str, str, int, str]:
    case = pair.inference.case
    return case.model, case.target, case.runtime, case.precision, case.batch, pair.inference.record_id


def _pair(one: Training) -> Pair:
    record = one.inference
    name = f"{candidate(record)} {record.case.sizes}".rstrip()
    return Pair(record.case.model, name, marked(record), _latency(record), _latency(one.training))


def _latency(record: Record) -> float:
    return record.value(METRIC) or 0.0


def _note(there: int, shown: int) -> str:
    said = ["Both points of a line are the median latency of one step of the same case; batch sizes are equal."]
    if shown < there:
        said.append(f"{shown} of {there} cases, spread evenly over models and platforms; the table has more.")
    return " ".join(said)


def _row(pair: Training) -> Row:
    notes = [*pair.ratio.notes, *([f"other software: {', '.join(pair.mixed)}"] if pair.mixed else [])]
    numbers = (measured(pair.inference, METRIC), measured(pair.training, METRIC), _ratio(pair))
    told = words("; ".join(notes), Tone.DOUBT) if notes else MISSING
    return record_row(pair.inference, *case_cells(pair.inference.case), *numbers, told)


def _ratio(pair: Training) -> Cell:
    value, interval = pair.ratio.value or 0.0, pair.ratio.interval
    low, high = (interval.low, interval.high) if interval else (None, None)
    return Cell(text=_times(pair), value=value, low=low, high=high)


def _times(pair: Training) -> str:
    interval = pair.ratio.interval
    bounds = f" [{significant(interval.low, 4)}, {significant(interval.high, 4)}]" if interval else ""
    return f"{significant(pair.ratio.value or 0.0, 4)}{bounds}"


def _findings(found: Sequence[Training]) -> tuple[Finding, ...]:
    """The dearest, and the cheapest where it is so for sure; of what hardware gave."""
    real = [pair for pair in found if mark_of(pair.inference) is None and mark_of(pair.training) is None]
    ordered = sorted(real, key=lambda pair: (-(pair.ratio.value or 0.0), _key(pair)))
    if not ordered:
        return ()
    dearest, cheapest = ordered[0].ratio.interval, ordered[-1].ratio.interval
    apart = dearest is not None and cheapest is not None and cheapest.high < dearest.low
    ends = (ordered[0], ordered[-1]) if apart else ordered[:1]
    return tuple(Finding(text=_said(pair)) for pair in ends)


def _said(pair: Training) -> str:
    record = pair.inference
    sure = "" if pair.ratio.interval else " (no interval: too few samples)"
    return (
        f"A training step of {record.case.model} on {candidate(record)} takes {_times(pair)} times as long as an "
        f"inference step{sure}."
    )


MEMBER = training
