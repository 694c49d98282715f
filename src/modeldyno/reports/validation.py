"""A validation of prediction as a document."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from datetime import datetime

from modeldyno import __version__
from modeldyno.core.metrics import METRICS
from modeldyno.predict.stored import LATENCY
from modeldyno.predict.validation import NEAR, SPLITS, Group, Score, Validation
from modeldyno.reports.assemble import scope_of
from modeldyno.reports.cells import MISSING, number, number_column, table, text_column, words
from modeldyno.reports.charts.predicted import Pair, agreement, error_chart
from modeldyno.reports.document import Block, Cell, Document, Finding, Note, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.store.words import real

_SCORES = (
    number_column("results", "cells"),
    number_column("median error", "median_error"),
    number_column("mean error", "mean_error"),
    number_column("within 15 %", "within_15_percent"),
    number_column("in 90 % interval", "coverage"),
    number_column("half-width", "half_width"),
    number_column("abstained"),
)
_MOST_GROUPS = 25


def unit_of(metric: str) -> str:
    return "ms per item" if metric == LATENCY else METRICS[metric].unit


def validation_document(validation: Validation, store: Store, command: str, made_at: datetime) -> Document:
    return Document(
        report="prediction",
        title="How well prediction does",
        intro=_intro(validation),
        made_at=made_at,
        version=__version__,
        scope=scope_of(Material(store, real(Filter()))),
        findings=tuple(_findings(validation)),
        sections=(_splits(validation), *_analysis(validation)),
        reproduce=(command,),
    )


def _intro(validation: Validation) -> str:
    return (
        f"{counted(validation.cells, 'result')} of {validation.metric} are known. Some were hidden, with all copies of "
        "the same device under another name; a predictor learned from the rest and was asked for them. A split says "
        "what was hidden: pairs of model and device, models but for one device, whole models, whole families, or "
        "devices, of which ten results were then given."
    )


def _findings(validation: Validation) -> Iterator[Finding]:
    for score in validation.scores:
        if score.median_error is None or score.coverage is None or score.within_15_percent is None:
            yield Finding(text=f"{_told(score.name)}: nothing could be said.", tone=Tone.DOUBT)
            continue
        text = (
            f"{_told(score.name)}: half of the predictions are off by less than {score.median_error:.1%}, "
            f"{score.within_15_percent:.0%} by less than 15 %; {score.coverage:.0%} of the 90 % intervals held."
        )
        yield Finding(text=text, tone=Tone.PLAIN if score.as_promised else Tone.DOUBT)


def _told(split: str) -> str:
    return SPLITS[split].value.capitalize()


def _splits(validation: Validation) -> Section:
    columns = (text_column("split"), text_column("hidden"), *_SCORES)
    rows = [Row(cells=(words(one.name), words(SPLITS[one.name].value), *_cells(one))) for one in validation.scores]
    blocks: list[Block] = [table("prediction-splits", "By what was hidden", columns, rows)] if rows else []
    blocks += [Note(text=f"The split {split} was left out: {why}.") for split, why in validation.left_out.items()]
    blocks += _charts(validation)
    return Section(name="splits", title="What was hidden, and what was said of it", blocks=tuple(blocks))


def _charts(validation: Validation) -> Iterator[Block]:
    pairs, errors = list(_pairs(validation)), _errors(validation)
    if pairs:
        yield agreement("predicted-against-measured", unit_of(validation.metric), pairs)
    if errors:
        yield error_chart("prediction-errors", errors, NEAR)


def _pairs(validation: Validation) -> Iterator[Pair]:
    for answer in validation.answers:
        told, cell = answer.prediction, answer.cell
        if told.value and told.low and told.high and cell.value:
            ends = (cell.value, told.value, told.low, told.high)
            yield Pair(SPLITS[answer.split].value, cell.model, cell.device, cell.platform, *ends)


def _errors(validation: Validation) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {}
    for answer in validation.answers:
        if answer.error is not None:
            found.setdefault(SPLITS[answer.split].value, []).append(answer.error)
    return found


def _analysis(validation: Validation) -> Iterator[Section]:
    tables = tuple(_group_table(kind, groups) for kind, groups in validation.groups.items() if groups)
    if tables:
        text = (
            "Over all splits, worst first. Some splits are harder than others, so the last column holds each error "
            "against the middle one of its split: 2 is twice as far off."
        )
        yield Section(name="where", title="Where it is wrong", blocks=(Note(text=text), *tables))


def _group_table(kind: str, groups: Sequence[Group]) -> Table:
    columns = (text_column(kind), *_SCORES, number_column("to its split", "to_split"))
    rows = [
        Row(cells=(words(one.score.name), *_cells(one.score), number(one.to_split, f"{one.to_split:.2f}")))
        for one in groups
    ]
    return table(f"prediction-by-{kind}", f"By {kind}", columns, rows, most=_MOST_GROUPS)


def _cells(score: Score) -> tuple[Cell, ...]:
    shares = ((score.median_error, 1), (score.mean_error, 1), (score.within_15_percent, 0), (score.coverage, 0))
    width = MISSING if score.half_width is None else number(score.half_width, f"x {score.half_width:.2f}")
    told = [_share(value, digits) for value, digits in shares]
    return number(score.cells), *told, width, _share(score.abstained, 0)


def _share(value: float | None, digits: int) -> Cell:
    return MISSING if value is None else number(value, f"{value:.{digits}%}")
