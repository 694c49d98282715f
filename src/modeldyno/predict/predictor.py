"""Fills the cells that nobody measured: two experts, a correction learned from examinations, an interval that holds."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from modeldyno.core.errors import InputError
from modeldyno.predict._corrected import Correction, Examined, correct
from modeldyno.predict._covariance import Covariance
from modeldyno.predict._experts import Experts, Told, learned, profile_of
from modeldyno.predict._table import DEVICE, Bools, Floats, Ints, Table, Tabulator
from modeldyno.predict._trials import FOLDS, trials
from modeldyno.predict.cells import Cell, newest
from modeldyno.predict.prediction import WIDEST, Distance, Prediction

QUESTIONS, MODELS = 400, 50
"""Asked in one examination at most, and about so many models: those of one model are answered together."""
ROUNDS, DEVICES = 3, 5
"""Examinations of each kind."""
QUICK_QUESTIONS, QUICK_ROUNDS, QUICK_DEVICES = 2000, FOLDS, 12
"""The same where no work is counted, and answers are quick."""
RECENT = 0.7
"""Years after which a result is asked for half as often: questions are about today."""
NORMAL = 1.645
"""Standard deviations in which nine of ten lie."""
FEWEST = 8
"""Known cells below which nothing is said."""


@dataclass
class World:
    """Cells that can tell about each other: with counted work, or without."""

    cells: list[Cell]
    tabulator: Tabulator
    known: Table
    covariance: Covariance | None
    correction: Correction
    experts: Experts

    def with_more(self, cells: Sequence[Cell]) -> World:
        """The same with further measurements, such as the first few of a new device; learned parameters stay."""
        together = newest([*self.cells, *cells])
        known = self.tabulator.table(together)
        return World(
            together,
            self.tabulator,
            known,
            self.covariance,
            self.correction,
            Experts(known, self.covariance, profile_of(self.known)),
        )


class Predictor:
    """Fitted once, asked often."""

    def __init__(self, worlds: dict[bool, World]) -> None:
        self._worlds = worlds

    @classmethod
    def fit(cls, cells: Sequence[Cell], seed: int = 0) -> Predictor:
        parts = learnable(cells)
        if not parts:
            raise InputError(
                f"{len(newest(cells))} different results are too few to predict from; measure at least {FEWEST} whose "
                "operations are counted alike, or not counted alike, with dyno run."
            )
        return cls({described: _world(part, seed) for described, part in parts.items()})

    @property
    def size(self) -> int:
        return len(self.known)

    @property
    def known(self) -> list[Cell]:
        """What it has learned from."""
        return [cell for world in self._worlds.values() for cell in world.cells]

    @property
    def errors(self) -> dict[Distance, Floats]:
        """Logarithmic errors in the examinations."""
        found: dict[Distance, list[Floats]] = {}
        for world in self._worlds.values():
            for distance, errors in world.correction.errors.items():
                found.setdefault(distance, []).append(errors)
        return {distance: np.concatenate(some) for distance, some in found.items()}

    def quality(self) -> dict[str, dict[str, float]]:
        """By distance: how many cells were asked for in examinations, and how far off the answers were."""
        return {
            distance.value: {
                "cells": len(errors),
                "within_15_percent": round(float((np.abs(np.expm1(errors)) < 0.15).mean()), 4),
                "median_error": round(float(np.median(np.abs(np.expm1(errors)))), 4),
            }
            for distance, errors in self.errors.items()
        }

    def predict(self, cells: Sequence[Cell], calibration: Sequence[Cell] = ()) -> list[Prediction]:
        """One answer for each cell; measurements given beside them are used at once."""
        answers: dict[int, Prediction] = {}
        for described, world in self._worlds.items():
            more = [cell for cell in calibration if bool(cell.gflop) == described and cell.value]
            places = [place for place, cell in enumerate(cells) if bool(cell.gflop) == described]
            if places:
                asked = [cells[place] for place in places]
                told = _answers(world.with_more(more) if more else world, asked)
                answers |= dict(zip(places, told, strict=True))
        return [answers.get(place) or _nothing(cell) for place, cell in enumerate(cells)]


def learnable(cells: Sequence[Cell]) -> dict[bool, list[Cell]]:
    """What can be learned from, by whether operations are counted: the newest of each place, where they are enough."""
    known = newest(cell for cell in cells if cell.value is not None and 0 < cell.value < math.inf)
    parts = {described: [cell for cell in known if bool(cell.gflop) == described] for described in (True, False)}
    return {described: part for described, part in parts.items() if len(part) >= FEWEST}


def _world(cells: list[Cell], seed: int) -> World:
    tabulator = Tabulator(cells)
    known = tabulator.table(cells)
    covariance = learned(known)
    profile = profile_of(known)
    correction = correct(_examined(known, covariance, profile, seed))
    return World(cells, tabulator, known, covariance, correction, Experts(known, covariance, profile))


def _examined(known: Table, covariance: Covariance | None, profile: Ints, seed: int) -> Examined:
    random = np.random.default_rng(seed)
    told: list[Told] = []
    asked: list[Ints] = []
    extent = (ROUNDS, DEVICES) if covariance else (QUICK_ROUNDS, QUICK_DEVICES)
    for trial in trials(known, random, *extent):
        if covariance is None and trial.distance in (Distance.MODEL, Distance.FAMILY):
            continue  # without counted work nothing is told of a model that was never seen
        rows = _questions(known, trial.hidden, covariance is not None, random)
        if len(rows) and (~trial.hidden).sum() >= FEWEST:
            asked.append(rows)
            told.append(Experts(known.take(~trial.hidden), covariance, profile).ask(known.take(rows)))
    together = known.take(np.concatenate(asked) if asked else np.zeros(0, dtype=np.int64))
    middle = np.concatenate([one.middle for one in told]) if told else np.zeros(0)
    distance = tuple(distance for one in told for distance in one.distance)
    return Examined(
        asked=together,
        features=np.concatenate([one.features for one in told]) if told else np.zeros((0, 1)),
        off=together.value - middle,
        group=_groups(together, distance),
        distance=distance,
    )


def _groups(asked: Table, distance: Sequence[Distance]) -> Ints:
    new = np.asarray([one is Distance.DEVICE for one in distance])
    return np.where(new, -1 - asked.attributes[:, DEVICE], asked.model)


def _questions(known: Table, hidden: Bools, few_models: bool, random: np.random.Generator) -> Ints:
    if few_models:
        models = random.permutation(np.unique(known.model[hidden]))[:MODELS]
        hidden = hidden & np.isin(known.model, models)
    rows = np.flatnonzero(hidden)
    age = known.numbers[:, 1].max() - known.numbers[rows, 1]
    rows = random.permutation(rows[random.random(len(rows)) < 2.0 ** (-age / RECENT)])
    return rows[: QUESTIONS if few_models else QUICK_QUESTIONS]


def _answers(world: World, cells: Sequence[Cell]) -> list[Prediction]:
    asked = world.tabulator.table(cells)
    told = world.experts.ask(asked)
    add, half = world.correction.of(asked, told)
    half = np.where(told.strange, np.maximum(half, NORMAL * told.doubt), half)
    rows = zip((told.middle + add).tolist(), half.tolist(), told.distance, strict=True)
    return [_answer(log_value, width, distance, world) for log_value, width, distance in rows]


def _answer(log_value: float, half: float, distance: Distance, world: World) -> Prediction:
    if not np.isfinite(log_value):
        return Prediction(None, None, None, distance, "nothing that bears on it", "nothing measured bears on it")
    value, factor = float(np.exp(log_value)), float(np.exp(half))
    why = None
    if not world.correction.examined(distance):
        why = f"{distance}: too little is known to find out how far off it may be"
    elif factor > WIDEST:
        why = f"{distance}: the truth may be off by a factor of {factor:.1f}"
    return Prediction(value, value / factor, value * factor, distance, _evidence(distance, world), why)


def _evidence(distance: Distance, world: World) -> str:
    errors = world.correction.errors.get(distance)
    usual = f", usually off by {np.expm1(np.median(np.abs(errors))):.1%}" if errors is not None and len(errors) else ""
    return f"{len(world.known)} results; {distance}{usual}"


def _nothing(cell: Cell) -> Prediction:
    kind = "with" if cell.gflop else "without"
    why = f"fewer than {FEWEST} results are known of models {kind} counted operations"
    return Prediction(None, None, None, Distance.MODEL, "nothing that bears on it", why)
