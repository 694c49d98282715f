"""Questions of users: a model on the devices that are known, or a whole table."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.core.metrics import format_value
from modeldyno.core.types import Case
from modeldyno.importers._questions import Asked, Questions, read_questions
from modeldyno.predict.cells import Cell, cell_of, check_places
from modeldyno.predict.feasible import too_large
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.predictor import FEWEST, Predictor, learnable
from modeldyno.predict.stored import LATENCY, Say, cell_of_record, cells_of, predictor_of, quiet
from modeldyno.store.store import Store

_WHOLE = re.compile(r"-?\d{1,18}")
RATES = ("samples_per_sec",)
"""Targets that are items per second; others are milliseconds of a step."""
CONTRADICTION = 1.5
"""Measurements of one case that are further apart are told."""
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
    for warning in _doubts(questions, cells):
        warn(warning)
    predictor = predictor_of(store, say=warn) if store.path.exists() else None
    given = _without_slips(predictor, given, warn) if predictor else _without_slips_among(given, warn)
    predictor = predictor or _of_table(given)
    asked = [cell.asked() for place in open_ if (cell := cells[place])]
    told = iter(predictor.predict(asked, calibration=given))
    answers = [_answer(questions.rows[place], cells[place], questions, told) for place in open_]
    return Answered(tuple(answers), questions.target, len(given))


def _doubts(questions: Questions, cells: Sequence[Cell | None]) -> Iterator[str]:
    """What of the table cannot be used, and what contradicts itself."""
    if not questions.has_target:
        yield f"There is no column {questions.target}: all rows are taken for questions; name it so if it is there."
    same: dict[tuple[object, ...], list[tuple[Any, float]]] = {}
    for row, cell in zip(questions.rows, cells, strict=True):
        if row.filled and cell is not None and cell.value and cell.value > 0:
            same.setdefault((*cell.place, cell.batch), []).append((row.id, cell.value))
        elif row.filled:
            yield f"Row {row.id} was left out: {row.reason or 'its number is not a positive one'}; correct it."
    for filled in same.values():
        ids, values = zip(*filled, strict=True)
        apart = max(values) / min(values)
        if apart > CONTRADICTION:
            rows = ", ".join(map(str, ids))
            yield f"Rows {rows} are of one case and up to {apart:.3g} times apart; the last is used."


def _of_table(given: Sequence[Cell]) -> Predictor:
    """Where the store has nothing."""
    if not learnable(given):
        raise InputError(
            f"The store has too few results to predict from; import some with dyno db import, or fill in {FEWEST} rows."
        )
    return Predictor.fit(given)


def _without_slips_among(given: Sequence[Cell], warn: Say) -> list[Cell]:
    """Where nothing else is known each half is held against the other: nothing may vouch for itself."""
    halves = given[::2], given[1::2]
    kept: list[Cell] = []
    for half, other in (halves, halves[::-1]):
        kept += _without_slips(Predictor.fit(other), half, warn) if learnable(other) else half
    return kept


def _without_slips(predictor: Predictor, given: Sequence[Cell], warn: Say) -> list[Cell]:
    """Leaves out numbers that stand in another unit, if they can be told."""
    told = predictor.predict([cell.asked() for cell in given])
    kept = []
    for cell, prediction in zip(given, told, strict=True):
        ratio = (cell.value or 0.0) / prediction.value if prediction.value else 1.0
        inside = (prediction.low or 0.0) <= (cell.value or 0.0) <= (prediction.high or math.inf)
        if inside or 1 / THOUSAND < ratio < THOUSAND:
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
    metric: str = LATENCY


@dataclass(frozen=True)
class Row:
    cell: Cell
    prediction: Prediction
    metric: str

    def texts(self) -> tuple[str, str, str]:
        told = self.prediction
        if told.value is None:
            return "-", "-", told.why_not or told.evidence
        interval = "-" if told.low is None or told.high is None else f"{told.low:.4g} to {told.high:.4g}"
        return format_value(self.metric, told.value), interval, told.why_not or told.evidence

    def document(self) -> dict[str, Any]:
        told = self.prediction
        return {
            "device": self.cell.device,
            "platform": self.cell.platform,
            "runtime": self.cell.runtime,
            "precision": self.cell.precision,
            "setting": self.cell.setting,
            "version": self.cell.version,
            "ms_per_item" if self.metric == LATENCY else self.metric: told.value,
            "low": told.low,
            "high": told.high,
            "distance": told.distance.value,
            "evidence": told.evidence,
            "why_not": told.why_not,
        }


def predictions(wanted: Wanted, rows: Sequence[Row]) -> dict[str, Any]:
    """The answer as a JSON document."""
    about = {"model": wanted.model, "batch": wanted.batch, "metric": wanted.metric}
    return about | {"predictions": [row.document() for row in rows]}


def answer_model(store: Store, wanted: Wanted, say: Say = quiet, predictor: Predictor | None = None) -> list[Row]:
    """On each device that is known, in each way that was seen there; fastest first, what is unknown last.

    Without a predictor it is the one that knows all results, trained now where there is none."""
    known = cells_of(store, wanted.metric) if store.path.exists() else []
    if predictor is None and known:
        predictor = predictor_of(store, wanted.metric, say=say)
    if predictor is None:
        raise InputError(
            f"The store has too few results to predict {wanted.metric} from; run dyno run or dyno db import first."
        )
    cells = _cells(wanted, known)
    measured = {(cell.place[:-1], cell.batch): cell for cell in known}
    told = predictor.predict(cells)
    rows = []
    for cell, prediction in zip(cells, told, strict=True):
        if last := measured.get((cell.place[:-1], cell.batch)):
            prediction = _as_measured(last)
        elif reason := too_large(cell):
            prediction = Prediction(None, None, None, prediction.distance, reason, reason)
        rows.append(Row(cell, prediction, wanted.metric))
    return sorted(rows, key=lambda row: (row.prediction.value is None, row.prediction.value or 0.0))


def _as_measured(cell: Cell) -> Prediction:
    return Prediction(cell.value, None, None, Distance.MEASURED, Distance.MEASURED.value)


def _cells(wanted: Wanted, known: Sequence[Cell]) -> list[Cell]:
    """The newest version of each way that a device was seen in."""
    check_places(known, wanted.on)
    ways = {
        (cell.device, *cell.way[:-1]): cell
        for cell in known
        if cell.work.startswith("inference") and _is_wanted(cell, wanted)
    }
    if not ways:
        raise InputError("No result was taken in such a way; leave out --runtime, --precision or --on.")
    counts = _counts(wanted)
    return [_moved(wanted, counts, last) for last in ways.values()]


def _moved(wanted: Wanted, counts: Mapping[str, Any], last: Cell) -> Cell:
    """The model as it would be run where the last was, in the same way."""
    case = Case(
        model=counts["name"],
        platform=last.platform,
        runtime=last.runtime,
        precision=last.precision,
        batch=wanted.batch,
        shape=dict(counts["shape"]),
    )
    cell = cell_of(case, last.device, gflop=counts["gflop"], parameters=counts["parameters"])
    return replace(cell, setting=last.setting, version=last.version, year=last.year)


def _is_wanted(cell: Cell, wanted: Wanted) -> bool:
    on = not wanted.on or any(cell.is_on(word) for word in wanted.on)
    runtime = not wanted.runtimes or cell.runtime in wanted.runtimes
    return on and runtime and (not wanted.precisions or cell.precision in wanted.precisions)


def _counts(wanted: Wanted) -> dict[str, Any]:
    """Of a model that can be built: its operations at this batch and shape."""
    from modeldyno import models

    spec = models.resolve(wanted.model)
    shape = {**spec.axes, **wanted.shape}
    counted = models.count(spec, wanted.batch, shape)
    return {"name": spec.name, "shape": shape, "gflop": counted.gflop, "parameters": counted.parameters}
