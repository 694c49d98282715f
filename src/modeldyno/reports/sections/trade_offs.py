"""What a shorter latency costs in throughput, memory and energy, and which candidates no other beats."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from modeldyno.analysis.pareto import frontier
from modeldyno.core.metrics import Direction, significant
from modeldyno.core.types import Record
from modeldyno.reports.cells import (
    CASE_COLUMNS,
    MISSING,
    candidate,
    case_cells,
    mark_of,
    marked,
    measured,
    metric_column,
    metric_title,
    number,
    number_column,
    record_row,
    table,
    text_column,
    words,
)
from modeldyno.reports.charts.layout import MOST_PANELS, evenly
from modeldyno.reports.charts.pareto import Choice, pareto_chart
from modeldyno.reports.document import Chart, Finding, Row, Section, Table
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.sections._names import work
from modeldyno.reports.template import Part

LATENCY, THROUGHPUT, MEMORY, ENERGY = "latency_ms", "throughput_per_s", "memory_peak_mb", "energy_j"
_ABOUT = {
    THROUGHPUT: ["Only models that were measured at several batch sizes."],
    MEMORY: [
        "Memory is that of the device where the device counts its own, else that of the worker process: between such "
        "platforms the line says little."
    ],
    ENERGY: ["Energy is that of one step over its batch size."],
}
MOST_BEATEN = 150
"""Points of one panel that are not on the frontier."""


@dataclass(frozen=True)
class Aim:
    """What latency is held against."""

    word: str
    metric: str
    direction: Direction
    title: str
    value: Callable[[Record], float]
    """NaN where the record has none."""


@dataclass(frozen=True)
class Contest:
    """The candidates for one model and shape that have both numbers."""

    panel: str
    aim: Aim
    best: tuple[Record, ...]
    """From the shortest latency to the longest."""
    beaten: tuple[Record, ...]


def _value(record: Record, name: str) -> float:
    value = record.value(name)
    return math.nan if value is None else value


def _is_some(value: float) -> bool:
    return math.isfinite(value) and value > 0


def _energy_per_item(record: Record) -> float:
    return _value(record, ENERGY) / record.case.batch


AIMS = (
    Aim("throughput", THROUGHPUT, Direction.MORE, metric_title(THROUGHPUT), lambda record: _value(record, THROUGHPUT)),
    Aim("memory", MEMORY, Direction.LESS, metric_title(MEMORY), lambda record: _value(record, MEMORY)),
    Aim("energy", ENERGY, Direction.LESS, "energy per item (J)", _energy_per_item),
)


def trade_offs(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """A chart for each aim that some model has several candidates for, and the frontiers as a table."""
    held = {aim.word: tuple(_contests(material.measured, aim)) for aim in AIMS}
    charts = tuple(_chart(aim, held[aim.word]) for aim in AIMS if held[aim.word])
    if not charts:
        return None
    contests = [contest for found in held.values() for contest in found]
    return Section(
        name="trade-offs",
        title="Trade-offs",
        blocks=(*charts, _table(contests)),
        findings=_findings(held["throughput"]),
    )


def _contests(records: Sequence[Record], aim: Aim) -> Iterator[Contest]:
    """For each model the shape with most candidates; at one batch size throughput is but the inverse of latency."""
    grouped: dict[tuple[str, str], dict[str, list[Record]]] = {}
    for record in sorted(records, key=lambda record: record.record_id):
        if _is_some(_value(record, LATENCY)) and _is_some(aim.value(record)):
            case = record.case
            grouped.setdefault((case.workload, case.model), {}).setdefault(work(case), []).append(record)
    for _, panels in sorted(grouped.items()):
        panel, found = max(panels.items(), key=lambda item: (len(item[1]), item[0]))
        if len(found) > 1 and (aim.metric != THROUGHPUT or len({record.case.batch for record in found}) > 1):
            yield _contest(panel, found, aim)


def _contest(panel: str, found: Sequence[Record], aim: Aim) -> Contest:
    """What no hardware gave beats nothing that some did."""
    real = [record for record in found if mark_of(record) is None] or list(found)
    points = [(_value(record, LATENCY), aim.value(record)) for record in real]
    best = tuple(real[place] for place in frontier(points, (Direction.LESS, aim.direction)).places)
    on_it = {record.record_id for record in best}
    return Contest(panel, aim, best, tuple(record for record in found if record.record_id not in on_it))


def _chart(aim: Aim, found: Sequence[Contest]) -> Chart:
    shown = sorted(found, key=lambda one: (-len(one.best) - len(one.beaten), one.panel))[:MOST_PANELS]
    axes = (metric_title(LATENCY), aim.title)
    rows = [row for contest in shown for row in _rows(contest)]
    title = f"Latency against {aim.word}"
    return pareto_chart(f"trade-offs-{aim.word}", title, axes, rows, _note(aim, found, shown))


def _rows(contest: Contest) -> Iterator[Choice]:
    for record in contest.best:
        yield _choice(contest, record, best=True)
    for record in evenly(contest.beaten, MOST_BEATEN):
        yield _choice(contest, record, best=False)


def _choice(contest: Contest, record: Record, best: bool) -> Choice:
    return Choice(
        panel=contest.panel,
        name=candidate(record),
        platform=marked(record),
        precision=record.case.precision,
        x=_value(record, LATENCY),
        y=contest.aim.value(record),
        best=best,
        made_up=mark_of(record) is not None,
    )


def _note(aim: Aim, found: Sequence[Contest], shown: Sequence[Contest]) -> str:
    less = "less latency (left)"
    better = (
        f"{less} and more throughput (up)" if aim.direction is Direction.MORE else f"{less} and less {aim.word} (down)"
    )
    said = [
        f"Better is {better}. A point is one platform, runtime, precision and batch size; the line joins those that no "
        "other beats in both, by their medians: neighbours may not be told apart."
    ]
    said += _ABOUT.get(aim.metric, [])
    if len(shown) < len(found):
        said.append(f"The {len(shown)} of {len(found)} models with most candidates; the table has more.")
    if any(len(contest.beaten) > MOST_BEATEN for contest in shown):
        said.append(f"At most {MOST_BEATEN} points off the line for each model, spread evenly.")
    return " ".join(said)


def _table(contests: Sequence[Contest]) -> Table:
    on: dict[str, list[str]] = {}
    records: dict[str, tuple[str, float, Record]] = {}
    for contest in contests:
        for record in contest.best:
            on.setdefault(record.record_id, []).append(contest.aim.word)
            records[record.record_id] = (contest.panel, _value(record, LATENCY), record)
    energy = number_column("energy per item", "energy_per_item_j")
    columns = (*CASE_COLUMNS, *map(metric_column, (LATENCY, THROUGHPUT, MEMORY)), energy)
    caption = (
        "Candidates that no other of the same model and shape beats in both latency and what the last column names."
    )
    ordered = sorted(records.items(), key=lambda item: (*item[1][:2], item[0]))
    rows = [_row(record, on[key]) for key, (_, _, record) in ordered]
    return table("trade-offs", caption, (*columns, text_column("unbeaten in latency and")), rows)


def _row(record: Record, aims: Sequence[str]) -> Row:
    numbers = [measured(record, name) for name in (LATENCY, THROUGHPUT, MEMORY)]
    joules = _energy_per_item(record)
    energy = number(joules, f"{significant(joules, 4)} J") if math.isfinite(joules) else MISSING
    return record_row(record, *case_cells(record.case), *numbers, energy, words(", ".join(aims)))


def _findings(found: Sequence[Contest]) -> tuple[Finding, ...]:
    """The widest choice between latency and throughput, and how many models leave none; of what hardware gave."""
    real = [contest for contest in found if mark_of(contest.best[0]) is None]
    open_ones = [contest for contest in real if len(contest.best) > 1]
    said = [_widest(max(open_ones, key=lambda one: (_gain(one), one.panel)))] if open_ones else []
    settled = len(real) - len(open_ones)
    if settled:
        text = (
            f"For {settled} of {counted(len(real), 'model')} measured at several batch sizes one candidate has both "
            "the shortest median latency and the most throughput."
        )
        said.append(Finding(text=text))
    return tuple(said)


def _gain(contest: Contest) -> float:
    return contest.aim.value(contest.best[-1]) / contest.aim.value(contest.best[0])


def _widest(contest: Contest) -> Finding:
    quick, much = contest.best[0], contest.best[-1]
    longer = significant(_value(much, LATENCY) / _value(quick, LATENCY), 3)
    times = significant(_gain(contest), 3)
    text = (
        f"{contest.panel}: {candidate(much)} has {times} times the throughput of {candidate(quick)}, "
        f"whose median latency is the shortest, at {longer} times that latency."
    )
    return Finding(text=text)


MEMBER = trade_offs
