"""Questions of users: a model on the devices that are known, or a whole table."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.metrics import format_value
from modeldyno.core.types import Case
from modeldyno.importers._questions import Asked, Questions, read_questions
from modeldyno.predict.cells import Cell, cell_of
from modeldyno.predict.feasible import too_large
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.predictor import FEWEST, Predictor
from modeldyno.predict.stored import LATENCY, Say, cell_of_record, cells_of, predictor_of, quiet
from modeldyno.store.store import Store

_WHOLE = re.compile(r"-?\d{1,18}")
RATES = ("samples_per_sec",)
"""Targets that are items per second; others are milliseconds of a step."""
THOUSAND = 300.0
"""A given measurement so many times off is told in another unit."""


@dataclass(frozen=True)
class Answer:
    """One row of the answers."""

    id: Any
    predicted: float | None
    low: float | None
    high: float | None
    abstained: bool
    why: str | None


@dataclass(frozen=True)
class Answered:
    answers: tuple[Answer, ...]
    target: str
    calibration: int
    """Rows whose number was given and used."""


def answer_table(store: Store, path: Path, warn: Say) -> Answered:
    """Rows with a number are measurements to be used, the others questions."""
    questions = read_questions(path)
    cells = [cell_of_record(row.record) if row.record else None for row in questions.rows]
    given = [cell for row, cell in zip(questions.rows, cells, strict=True) if cell and row.filled and cell.value]
    open_ = [place for place, row in enumerate(questions.rows) if not row.filled]
    predictor = _predictor(store, given, warn)
    given = _without_slips(predictor, given, warn)
    asked = [cell.asked() for place in open_ if (cell := cells[place])]
    told = iter(predictor.predict(asked, calibration=given))
    answers = [_answer(questions.rows[place], cells[place], questions, told) for place in open_]
    return Answered(tuple(answers), questions.target, len(given))


def _predictor(store: Store, given: Sequence[Cell], say: Say) -> Predictor:
    """Of the store; of the table alone, where the store has nothing."""
    found = predictor_of(store, say=say) if store.path.exists() else None
    if found is None and len(given) >= FEWEST:
        return Predictor.fit(given)
    if found is None:
        raise InputError(
            f"The store has too few results to predict from; import some with dyno db import, or fill in {FEWEST} rows."
        )
    return found


def _without_slips(predictor: Predictor, given: Sequence[Cell], warn: Say) -> list[Cell]:
    """Leaves out numbers that stand in another unit, if they can be told."""
    told = predictor.predict([cell.asked() for cell in given])
    kept = []
    for cell, prediction in zip(given, told, strict=True):
        ratio = (cell.value or 0.0) / prediction.value if prediction.value else 1.0
        if prediction.abstained or 1 / THOUSAND < ratio < THOUSAND:
            kept.append(cell)
        else:
            warn(
                f"{cell.model} on {cell.device} is {ratio:.3g} times what is expected and was left out: check its unit."
            )
    return kept


def _answer(row: Asked, cell: Cell | None, questions: Questions, told: Any) -> Answer:
    if cell is None:
        return Answer(row.id, None, None, None, True, row.reason or "names no device")
    prediction: Prediction = next(told)
    if prediction.value is None or prediction.low is None or prediction.high is None:
        return Answer(row.id, None, None, None, True, prediction.why_not)
    values = sorted(
        _in_unit(value, cell, questions.target) for value in (prediction.low, prediction.value, prediction.high)
    )
    return Answer(row.id, values[1], values[0], values[2], prediction.abstained, prediction.why_not)


def _in_unit(ms_per_item: float, cell: Cell, target: str) -> float:
    return 1e3 / ms_per_item if target in RATES else ms_per_item * cell.batch


def write_answers(path: Path, answered: Answered) -> None:
    """A table with `id`, `predicted`, `low`, `high`, `abstained` and the reason."""
    import duckdb

    if path.suffix not in (".parquet", ".csv"):
        raise InputError(f"{path} is neither .parquet nor .csv; name the file so that its format is plain.")
    kind = "BIGINT" if all(_WHOLE.fullmatch(str(answer.id)) for answer in answered.answers) else "VARCHAR"
    columns = f"id {kind}, predicted DOUBLE, low DOUBLE, high DOUBLE, abstained BOOLEAN, why VARCHAR"
    rows = [(a.id, a.predicted, a.low, a.high, a.abstained, a.why) for a in answered.answers]
    with duckdb.connect() as connection:
        connection.execute(f"CREATE TABLE answers ({columns})")
        if rows:
            connection.executemany("INSERT INTO answers VALUES (?, ?, ?, ?, ?, ?)", rows)
        table = connection.table("answers")
        try:
            (table.write_parquet if path.suffix == ".parquet" else table.write_csv)(str(path))
        except duckdb.Error as error:
            raise InputError(
                f"{path} cannot be written: {str(error).splitlines()[0]}; choose another --output."
            ) from None


@dataclass(frozen=True)
class Wanted:
    """What a user asks about one model."""

    model: str
    on: tuple[str, ...] = ()
    runtimes: tuple[str, ...] = ()
    precisions: tuple[str, ...] = ()
    batch: int = 1
    shape: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True)
class Row:
    cell: Cell
    prediction: Prediction

    def texts(self) -> tuple[str, str, str]:
        told = self.prediction
        if told.value is None:
            return "-", "-", told.why_not or told.evidence
        interval = "-" if told.low is None or told.high is None else f"{told.low:.4g} to {told.high:.4g}"
        return format_value(LATENCY, told.value), interval, told.why_not or told.evidence

    def document(self) -> dict[str, Any]:
        told = self.prediction
        return {
            "device": self.cell.device,
            "platform": self.cell.platform,
            "runtime": self.cell.runtime,
            "precision": self.cell.precision,
            "ms_per_item": told.value,
            "low": told.low,
            "high": told.high,
            "distance": told.distance.value,
            "evidence": told.evidence,
            "why_not": told.why_not,
        }


def answer_model(store: Store, wanted: Wanted, say: Say = quiet) -> list[Row]:
    """On each device that is known, in each way that was seen there; fastest first, what is unknown last."""
    known = cells_of(store) if store.path.exists() else []
    predictor = predictor_of(store, say=say) if known else None
    if predictor is None:
        raise InputError("The store has too few results to predict from; run dyno run or dyno db import first.")
    cells = _cells(wanted, known)
    measured = {(cell.place[:-1], cell.batch): cell for cell in known}
    told = predictor.predict(cells)
    rows = []
    for cell, prediction in zip(cells, told, strict=True):
        if last := measured.get((cell.place[:-1], cell.batch)):
            prediction = _as_measured(last)
        elif reason := too_large(cell):
            prediction = Prediction(None, None, None, prediction.distance, reason, reason)
        rows.append(Row(cell, prediction))
    return sorted(rows, key=lambda row: (row.prediction.value is None, row.prediction.value or 0.0))


def _as_measured(cell: Cell) -> Prediction:
    return Prediction(cell.value, None, None, Distance.MEASURED, Distance.MEASURED.value)


def _cells(wanted: Wanted, known: Sequence[Cell]) -> list[Cell]:
    """The newest version of each way that a device was seen in."""
    ways = {
        (cell.platform, cell.device, cell.runtime, cell.precision): cell
        for cell in known
        if cell.work.startswith("inference")
    }
    chosen = [way for way in ways if _is_wanted(way, wanted)]
    if not chosen:
        there = {word for platform, device, *_ in ways for word in (platform, device)}
        raise UnknownName("device or platform", ",".join(wanted.on) or "any", there)
    counts = _counts(wanted)
    made = []
    for way in chosen:
        last = ways[way]
        case = Case(
            model=wanted.model,
            platform=way[0],
            runtime=way[2],
            precision=way[3],
            batch=wanted.batch,
            shape=dict(counts["shape"]),
        )
        cell = cell_of(case, way[1], gflop=counts["gflop"], parameters=counts["parameters"])
        made.append(
            Cell(
                **{name: getattr(cell, name) for name in Cell.__slots__}
                | {"setting": last.setting, "version": last.version, "year": last.year}
            )
        )
    return made


def _is_wanted(way: tuple[str, str, str, str], wanted: Wanted) -> bool:
    platform, device, runtime, precision = way
    on = not wanted.on or any(
        word.lower() in (platform.lower(), device.lower()) or word.lower() in device.lower() for word in wanted.on
    )
    return (
        on
        and (not wanted.runtimes or runtime in wanted.runtimes)
        and (not wanted.precisions or precision in wanted.precisions)
    )


def _counts(wanted: Wanted) -> dict[str, Any]:
    """Of a model that can be built: its operations at this batch and shape."""
    from modeldyno import models

    spec = models.resolve(wanted.model)
    shape = {**spec.axes, **wanted.shape}
    counted = models.count(spec, wanted.batch, shape)
    return {"shape": shape, "gflop": counted.gflop, "parameters": counted.parameters}
