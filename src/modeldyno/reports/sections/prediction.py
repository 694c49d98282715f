"""How well what was not measured is told. Where results have come since, it is learned again first."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from modeldyno.predict.drift import Drift, drift
from modeldyno.predict.measure_next import Suggestion, suggest
from modeldyno.predict.prediction import Distance
from modeldyno.predict.predictor import FEWEST
from modeldyno.predict.stored import cells_of, predictor_of
from modeldyno.reports.cells import number, number_column, table, text_column, words
from modeldyno.reports.document import Block, Cell, Finding, Note, Row, Section, Table, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.plural import counted
from modeldyno.reports.template import Part

BUDGET = 10
_QUALITY = (
    text_column("distance"),
    number_column("asked", "cells"),
    number_column("within 15 %", "within_15_percent"),
    number_column("median error", "median_error"),
)
_NEXT = (*map(text_column, ("model", "device", "runtime", "precision")), number_column("batch"), text_column("why"))


def prediction(material: Material, _: Part) -> Section | None:
    """Of the whole store, whichever records the report is about."""
    if not material.counts:
        return None
    drifted = drift(material.store)
    predictor = predictor_of(material.store)
    if predictor is None:
        return _too_few()
    quality = predictor.quality()
    found = suggest(predictor, cells_of(material.store), BUDGET)
    blocks = (*_blocks(quality, drifted), *([_next_table(found)] if found else []))
    findings = (*_findings(quality, drifted), Finding(text=f"Learned from {counted(predictor.size, 'result')}."))
    return Section(name="prediction", title="Prediction", blocks=blocks, findings=findings)


def _too_few() -> Section:
    text = f"Nothing can be predicted from fewer than {FEWEST} results; dyno run measures, dyno db import brings more."
    return Section(
        name="prediction",
        title="Prediction",
        blocks=(Note(text=text, tone=Tone.DOUBT),),
        findings=(Finding(text=text, tone=Tone.DOUBT),),
    )


def _blocks(quality: Mapping[str, Mapping[str, float]], drifted: Drift | None) -> Iterator[Block]:
    if quality:
        yield _quality_table(quality)
    else:
        yield Note(text="Too few results for examinations: nothing is known of how far off predictions are.")
    if drifted:
        yield Note(text=drifted.sentence, tone=_tone(drifted))


def _quality_table(quality: Mapping[str, Mapping[str, float]]) -> Table:
    known = [distance.value for distance in Distance if distance.value in quality]
    rows = [Row(cells=(words(distance), *_cells(quality[distance]))) for distance in known]
    return table("prediction-quality", "Asked for what it had not seen, by distance", _QUALITY, rows)


def _cells(found: Mapping[str, float]) -> tuple[Cell, ...]:
    within, middle = found["within_15_percent"], found["median_error"]
    return number(int(found["cells"])), number(within, f"{within:.0%}"), number(middle, f"{middle:.1%}")


def _next_table(found: Sequence[Suggestion]) -> Table:
    rows = [
        Row(
            cells=(
                *(words(getattr(one.cell, name)) for name in ("model", "device", "runtime", "precision")),
                number(one.cell.batch),
                words(one.why),
            )
        )
        for one in found
    ]
    return table("measure-next", "What to measure next", _NEXT, rows)


def _findings(quality: Mapping[str, Mapping[str, float]], drifted: Drift | None) -> Iterator[Finding]:
    if drifted:
        yield Finding(text=drifted.sentence, tone=_tone(drifted))
    for distance in Distance:
        if found := quality.get(distance.value):
            told = f"half of the predictions are off by less than {found['median_error']:.1%}"
            yield Finding(text=f"{distance.value.capitalize()}: {told}.")
            return


def _tone(drifted: Drift) -> Tone:
    return Tone.DOUBT if drifted.beyond_chance else Tone.PLAIN


MEMBER = prediction
