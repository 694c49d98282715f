"""Which way to run a model: candidates ranked for a goal, the risk of the choice, and what to do without it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Protocol

from modeldyno.advise._figures import chance_any, chance_better
from modeldyno.advise._known import Work, chosen_work, failures
from modeldyno.advise._questions import Operations, questions, subject_of
from modeldyno.advise.candidates import (
    UNTRIED,
    Candidate,
    Market,
    Place,
    Way,
    measured,
    nearest,
    predicted,
    unknown,
    way_of_cell,
)
from modeldyno.advise.prices import Prices
from modeldyno.advise.wishes import Goal, Wishes
from modeldyno.core.metrics import Direction
from modeldyno.core.protocols import Trains
from modeldyno.core.types import Case, Device, Record
from modeldyno.platforms import PLATFORMS
from modeldyno.predict.cells import Cell
from modeldyno.predict.feasible import refused, too_large
from modeldyno.predict.prediction import Prediction
from modeldyno.runtimes import RUNTIMES

TRAINING = "training"
WORKLOADS = ("inference", TRAINING)
MOST_FALLBACKS = 3


class Predicts(Protocol):
    """What fills the cells that nobody measured."""

    def predict(self, cells: Sequence[Cell]) -> list[Prediction]: ...


@dataclass(frozen=True)
class Question:
    """What is asked."""

    model: str
    wishes: Wishes = field(default_factory=Wishes)
    workload: str = WORKLOADS[0]
    shape: Mapping[str, int] = field(default_factory=dict, hash=False)
    """Sizes that are asked for; others are as they were measured most."""
    available: bool = False
    """Only on devices that are here."""


@dataclass(frozen=True)
class Knowledge:
    """What there is to answer from."""

    records: Sequence[Record]
    """Of the model: the newest of each series, however it ended."""
    here: Sequence[Device]
    prices: Prices
    axes: Mapping[str, int] = field(default_factory=dict)
    """The model's own sizes."""
    parameters: int | None = None
    cells: Sequence[Cell] = ()
    """Of all models."""
    predictors: Mapping[str, Predicts] = field(default_factory=dict)
    """By the metric they tell."""
    operations: Operations = lambda _: None


@dataclass(frozen=True)
class Advice:
    """The answer, with all that it was chosen from."""

    question: Question
    work: Work
    candidates: tuple[Candidate, ...]
    """Those that keep the limits first, then those of which that is not known; within them the best first."""
    here: frozenset[Place]
    notes: tuple[str, ...]

    @cached_property
    def rivals(self) -> tuple[Candidate, ...]:
        """Those of which the goal is known, and that they keep all limits."""
        return tuple(one for one in self.candidates if one.is_known and one.holds)

    @property
    def choice(self) -> Candidate | None:
        return next(iter(self.rivals), None)

    @cached_property
    def chances(self) -> dict[Way, float | None]:
        """How likely each rival is really better than the choice; None where one of the two has no interval."""
        direction = self.question.wishes.goal.direction
        return {one.way: chance_better(one.figure, self.rivals[0].figure, direction) for one in self.rivals[1:]}

    @property
    def risk(self) -> float | None:
        """At most this likely any of them is; None where that is not known of one."""
        known = [chance for chance in self.chances.values() if chance is not None]
        return chance_any(known) if len(known) == len(self.chances) else None

    @property
    def fallbacks(self) -> tuple[Candidate, ...]:
        """What to use where the device of the choice is not to be had: the best of each other device."""
        seen: dict[Place, Candidate] = {}
        for one in self.rivals:
            seen.setdefault(one.way.place, one)
        return tuple(seen.values())[1 : 1 + MOST_FALLBACKS]

    @property
    def best_here(self) -> Candidate | None:
        return next((one for one in self.rivals if one.way.place in self.here), None)

    @property
    def nearest(self) -> Candidate | None:
        """Where nothing keeps the limits: the one that misses them by least."""
        return nearest(self.candidates)


def advise(question: Question, knowledge: Knowledge) -> Advice:
    """Rank every way that something is known of, or that this machine offers."""
    work, records = chosen_work(knowledge.records, question.workload, question.shape, knowledge.axes)
    market = _market(knowledge)
    here = frozenset((device.platform, device.name) for device in knowledge.here if not device.emulated)
    broken = failures(knowledge.records, work)
    found = measured(records, question.wishes, market)
    found += _predicted(question, knowledge, work, market, {one.way for one in found}, broken)
    found += _unknown(question, knowledge, market, found, broken)
    if question.available:
        found = [one for one in found if one.way.place in here]
    return Advice(question, work, tuple(sorted(found, key=_order(question.wishes.goal))), here, _notes(work, found))


def _order(goal: Goal) -> Callable[[Candidate], tuple[bool, int, float, str]]:
    sign = -1.0 if goal.direction is Direction.MORE else 1.0
    ranks = {True: 0, None: 1, False: 2}

    def key(one: Candidate) -> tuple[bool, int, float, str]:
        return not one.is_known, ranks[one.holds], sign * (one.figure.value or 0.0), one.way.label

    return key


def _market(knowledge: Knowledge) -> Market:
    devices = [*(record.device for record in knowledge.records if record.device), *knowledge.here]
    return Market(knowledge.prices.prices, {(device.platform, device.name): device for device in devices})


def _predicted(
    question: Question, knowledge: Knowledge, work: Work, market: Market, known: set[Way], broken: Mapping[Way, str]
) -> list[Candidate]:
    """Ways that nobody measured, as far as other results tell of them; what does not fit is not asked about."""
    if not knowledge.predictors or not knowledge.cells:
        return []
    case = Case(model=question.model, platform="any", runtime="any", workload=work.workload, shape=dict(work.shape))
    settled = {_apart_from_settings(way) for way in (*known, *broken)}
    subject = subject_of(case, knowledge.cells, knowledge.parameters, knowledge.operations)
    asked = [
        cell
        for cell in questions(knowledge.cells, subject, work.batches or (1,))
        if _apart_from_settings(cell) not in settled and refused(case, cell) is None
    ]
    obstacles = {cell: reason for cell in asked if (reason := too_large(cell, market.memory_mb(cell)))}
    found = [unknown(way_of_cell(cell), reason, question.wishes, market) for cell, reason in obstacles.items()]
    asked = [cell for cell in asked if cell not in obstacles]
    answers = {name: one.predict(asked) for name, one in knowledge.predictors.items()} if asked else {}
    told = [{name: some[place] for name, some in answers.items()} for place in range(len(asked))]
    return found + [predicted(cell, one, question.wishes, market) for cell, one in zip(asked, told, strict=True)]


def _apart_from_settings(one: Way | Cell) -> tuple[str, str, str, str, int]:
    """Whoever measured or tried this need not ask about it."""
    return one.platform, one.device, one.runtime, one.precision, one.batch


def _unknown(
    question: Question, knowledge: Knowledge, market: Market, found: Sequence[Candidate], broken: Mapping[Way, str]
) -> list[Candidate]:
    """What was tried and failed, and what this machine offers that nothing is known of."""
    worked = {one.way for one in found}
    failed = {way: reason for way, reason in broken.items() if way not in worked}
    told = [unknown(way, f"failed: {reason}", question.wishes, market) for way, reason in failed.items()]
    seen = {(one.way.place, one.way.runtime) for one in (*found, *told)}
    for device in knowledge.here:
        if device.emulated:
            continue
        for runtime in _runtimes(device.platform, question.workload):
            if ((device.platform, device.name), runtime) not in seen:
                way = Way(device.platform, device.name, runtime, "fp32", 1)
                told.append(unknown(way, UNTRIED, question.wishes, market))
    return told


def _runtimes(platform: str, workload: str) -> list[str]:
    """Those that drive the platform; for training, those a model can learn in."""
    names = PLATFORMS.get(platform).runtimes
    return [name for name in names if workload != TRAINING or isinstance(RUNTIMES.get(name), Trains)]


def _notes(work: Work, found: Sequence[Candidate]) -> tuple[str, ...]:
    notes = []
    if work.emulated:
        notes.append(f"{work.emulated} results of emulated devices are left out: their speed says nothing of hardware.")
    if work.other_shapes:
        notes.append(f"{work.other_shapes} other input sizes were measured as well; choose with --shape.")
    if doubtful := sum(not one.trusted for one in found):
        notes.append(f"{doubtful} of the candidates were measured under conditions their passports do not call valid.")
    return tuple(notes)
