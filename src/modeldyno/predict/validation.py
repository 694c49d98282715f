"""How well prediction does on this store: results are hidden, a predictor learns from the rest, and is asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.models import size_class
from modeldyno.predict._corrected import COVERAGE
from modeldyno.predict._table import Tabulator
from modeldyno.predict._trials import CALIBRATION, Trial, trials
from modeldyno.predict.cells import Cell, newest
from modeldyno.predict.prediction import Distance, Prediction
from modeldyno.predict.predictor import FEWEST, Predictor

SPLITS = {
    "way": Distance.WAY,
    "pair": Distance.PAIR,
    "one": Distance.ONE,
    "model": Distance.MODEL,
    "family": Distance.FAMILY,
    "device": Distance.DEVICE,
}
"""By the names that a user says."""
NEAR = 0.15
"""Errors below this share count as near."""
MOST_QUESTIONS = 700
"""Asked in one trial, at random."""
MOST_DEVICES = 3
FEWEST_OF_GROUP = 5
"""Answers below which nothing is said of a family, device or size."""
UNCOUNTED = "not known"
_POINTS = 0.03
Watch = Callable[[int, int, str], None]
"""Told before each trial: its number, how many there are, what is hidden."""


@dataclass(frozen=True)
class Answered:
    """A result that was hidden, and what was said of it."""

    split: str
    cell: Cell
    prediction: Prediction

    @property
    def error(self) -> float | None:
        """As a share of the result; None where nothing was said."""
        value, truth = self.prediction.value, self.cell.value
        return abs(value / truth - 1) if value and truth else None

    @property
    def held(self) -> bool | None:
        """Whether the result lies within the interval."""
        low, high, truth = self.prediction.low, self.prediction.high, self.cell.value
        return None if low is None or high is None or truth is None else low <= truth <= high

    @property
    def half_width(self) -> float | None:
        """From the middle of the interval to either end, as a factor."""
        low, high = self.prediction.low, self.prediction.high
        return None if not low or not high else float(np.sqrt(high / low))


@dataclass(frozen=True)
class Score:
    """Errors are those of all answers with a number, of abstained ones too."""

    name: str
    cells: int
    answered: int
    """Of them, with a number."""
    median_error: float | None
    mean_error: float | None
    within_15_percent: float | None
    coverage: float | None
    """Share of results inside of their 90 % interval."""
    half_width: float | None
    """In the middle, as a factor."""
    abstained: float

    @property
    def as_promised(self) -> bool:
        """Whether about 90 % of the intervals held: within three points, or by chance where results are few."""
        chance = 2 * (COVERAGE * (1 - COVERAGE) / self.cells) ** 0.5
        return self.coverage is not None and abs(self.coverage - COVERAGE) <= max(_POINTS, chance)


@dataclass(frozen=True)
class Group:
    """The same for one family, device or size, over all splits."""

    score: Score
    to_split: float
    """Its errors over the usual one of the split that each is from: some splits are harder than others."""


@dataclass(frozen=True)
class Validation:
    metric: str
    cells: int
    """Results that there are to learn from and to hide."""
    seed: int
    answers: tuple[Answered, ...]
    scores: tuple[Score, ...]
    """By split."""
    left_out: Mapping[str, str]
    """Splits that could not be made, with the reason."""
    groups: Mapping[str, tuple[Group, ...]]
    """By family, device and size, worst first."""

    def document(self) -> dict[str, Any]:
        return {
            "metric": self.metric,
            "cells": self.cells,
            "seed": self.seed,
            "splits": {score.name: _without_name(score) for score in self.scores},
            "left_out": dict(self.left_out),
            "by": {
                kind: {group.score.name: _without_name(group.score) | {"to_split": group.to_split} for group in groups}
                for kind, groups in self.groups.items()
            },
        }


def _without_name(score: Score) -> dict[str, Any]:
    return {name: value for name, value in asdict(score).items() if name != "name"}


def validate(cells: Sequence[Cell], metric: str, splits: Sequence[str], seed: int, watch: Watch) -> Validation:
    """One trial for each split, one for each of a few devices; each with a predictor of its own."""
    known = newest(cell for cell in cells if cell.value)
    if len(known) < 2 * FEWEST:
        raise InputError(
            f"{len(known)} results are too few to hide some and learn from the rest; it takes {2 * FEWEST}: "
            "measure with dyno run, or bring some with dyno db import."
        )
    chosen = _chosen(splits)
    made = list(_trials(known, chosen, np.random.default_rng(seed)))
    answers: list[Answered] = []
    for number, (split, trial) in enumerate(made, start=1):
        watch(number, len(made), f"{split}: {int(trial.hidden.sum())} of {len(known)} results hidden")
        answers += _answers(split, trial, known, seed)
    seen = [split for split in chosen if any(answer.split == split for answer in answers)]
    return Validation(
        metric=metric,
        cells=len(known),
        seed=seed,
        answers=tuple(answers),
        scores=tuple(score(split, [answer for answer in answers if answer.split == split]) for split in seen),
        left_out={split: _why_not(split) for split in chosen if split not in seen},
        groups={kind: tuple(_groups(answers, of)) for kind, of in _KINDS.items()},
    )


def _chosen(splits: Sequence[str]) -> list[str]:
    for split in splits:
        if split not in SPLITS:
            raise UnknownName("split", split, SPLITS)
    return [split for split in SPLITS if split in splits] or list(SPLITS)


def _trials(known: Sequence[Cell], chosen: Sequence[str], random: np.random.Generator) -> Iterator[tuple[str, Trial]]:
    """All are drawn, so that a split hides the same whichever others are asked for."""
    names = {distance: split for split, distance in SPLITS.items()}
    for trial in trials(Tabulator(known).table(known), random, rounds=1, devices=MOST_DEVICES):
        split = names[trial.distance]
        left = len(known) - int(trial.hidden.sum())
        if split in chosen and trial.hidden.any() and left >= FEWEST:
            yield split, trial


def _answers(split: str, trial: Trial, known: Sequence[Cell], seed: int) -> Iterator[Answered]:
    """What is left of a new device comes as a user would bring it: beside the questions, after the learning."""
    hidden = [cell for cell, gone in zip(known, trial.hidden, strict=True) if gone]
    left = [cell for cell, gone in zip(known, trial.hidden, strict=True) if not gone]
    new = {cell.device for cell in hidden} if split == "device" else set()
    given = [cell for cell in left if cell.device in new]
    predictor = Predictor.fit([cell for cell in left if cell.device not in new], seed)
    order = np.random.default_rng(seed).permutation(len(hidden))
    asked = [hidden[place] for place in order[:MOST_QUESTIONS]]
    told = predictor.predict([cell.asked() for cell in asked], calibration=given)
    for cell, prediction in zip(asked, told, strict=True):
        yield Answered(split, cell, prediction)


def _why_not(split: str) -> str:
    if split == "device":
        return f"no device beside another has {3 * CALIBRATION} results, so that some could stand for a new one"
    if split == "family":
        return "all models are of one family"
    return "too little would be left to learn from"


def score(name: str, answers: Sequence[Answered]) -> Score:
    errors = [answer.error for answer in answers if answer.error is not None]
    widths = [answer.half_width for answer in answers if answer.half_width is not None]
    return Score(
        name=name,
        cells=len(answers),
        answered=len(errors),
        median_error=_rounded(np.median, errors),
        mean_error=_rounded(np.mean, errors),
        within_15_percent=_rounded(np.mean, [error < NEAR for error in errors]),
        coverage=_rounded(np.mean, [answer.held for answer in answers if answer.held is not None]),
        half_width=_rounded(np.median, widths),
        abstained=round(sum(answer.prediction.abstained for answer in answers) / len(answers), 4),
    )


def _rounded(of: Callable[[Any], Any], values: Sequence[float]) -> float | None:
    return round(float(of(values)), 4) if values else None


def _groups(answers: Sequence[Answered], of: Callable[[Cell], str]) -> list[Group]:
    usual = {split: _usual(answer for answer in answers if answer.split == split) for split in SPLITS}
    found: dict[str, list[Answered]] = {}
    for answer in answers:
        if answer.error is not None:
            found.setdefault(of(answer.cell), []).append(answer)
    made = [
        Group(score(name, some), round(float(np.median([(a.error or 0.0) / usual[a.split] for a in some])), 4))
        for name, some in found.items()
        if len(some) >= FEWEST_OF_GROUP
    ]
    return sorted(made, key=lambda group: (-group.to_split, group.score.name))


def _usual(answers: Iterable[Answered]) -> float:
    errors = [answer.error for answer in answers if answer.error is not None]
    return max(float(np.median(errors)), 1e-6) if errors else 1.0


def _size(cell: Cell) -> str:
    return size_class(round(cell.parameters * 1e6)) if cell.parameters else UNCOUNTED


_KINDS: Mapping[str, Callable[[Cell], str]] = {
    "family": lambda cell: cell.family,
    "device": lambda cell: cell.device,
    "size": _size,
}
