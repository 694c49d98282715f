"""Training for a result: from the initial weights, in a fixed order, until the target or the last step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from functools import partial
from statistics import fmean
from typing import Any

from modeldyno.core.protocols import CountsEnergy, EnergyReading, Session
from modeldyno.core.types import MetricValue
from modeldyno.workloads._training.chance import repeatable, seed_all
from modeldyno.workloads._training.checkpoint import Checkpoints, identity_of
from modeldyno.workloads._training.logs import Log, NoLog, TensorBoardLog
from modeldyno.workloads._training.settings import Settings
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.target import Grade, Target
from modeldyno.workloads._training.trainer import Tensors, Trainer

GRADES = 10
"""How often held-out data is looked at on the way."""
_AHEAD = 10
"""Batches that are made and brought to the device before the clock runs."""


@dataclass
class Course:
    """How training went so far."""

    losses: list[float] = field(default_factory=list)
    grades: dict[int, Grade] = field(default_factory=dict)
    """On held-out data after so many steps."""
    seconds: float = 0.0
    """Of the steps alone."""
    joules: float = 0.0
    """Of the steps, with what the host did in between."""
    energy_source: str | None = None
    """None where there is no counter."""
    resumed: int | None = None
    """The step of the checkpoint that it went on from."""

    @property
    def steps(self) -> int:
        return len(self.losses)

    @property
    def last(self) -> Grade:
        return self.grades[max(self.grades)]

    @property
    def broken(self) -> int | None:
        """The first step whose loss is no number."""
        return next((step for step, loss in enumerate(self.losses, 1) if not math.isfinite(loss)), None)

    def spend(self, seconds: float, before: EnergyReading | None, after: EnergyReading | None) -> None:
        self.seconds += seconds
        if before and after:
            self.joules += after.joules - before.joules
            self.energy_source = after.source

    def kept(self) -> dict[str, Any]:
        """As plain values, for a checkpoint."""
        return asdict(self)

    @classmethod
    def again(cls, kept: dict[str, Any]) -> Course:
        grades = {step: Grade(**grade) for step, grade in kept["grades"].items()}
        return cls(**{**kept, "grades": grades, "resumed": len(kept["losses"])})


def follow(setup: Setup, trainer: Trainer) -> Course:
    """The whole course, or the rest of one that was interrupted."""
    settings = setup.settings
    identity = identity_of(setup)
    shelf = Checkpoints(settings.checkpoint, identity) if settings.checkpoint else None
    kept = shelf.restore(trainer) if shelf else None
    course = Course.again(kept) if kept else Course()
    log: Log = NoLog()
    if settings.tensorboard:
        log = TensorBoardLog(settings.tensorboard / f"{setup.case.model.replace('/', '-')}-{identity}", course.steps)
    try:
        with repeatable():
            _Walk(setup, trainer, course, shelf, log).go()
    finally:
        log.close()
    return course


class _Walk:
    """Stretch by stretch: batches first, then steps by the clock, then a look at held-out data and a checkpoint."""

    def __init__(self, setup: Setup, trainer: Trainer, course: Course, shelf: Checkpoints | None, log: Log) -> None:
        self._session, self._settings, self._note = setup.bench.session, setup.settings, setup.bench.note
        self._trainer, self._course, self._shelf, self._log = trainer, course, shelf, log
        self._held_out = [trainer.site.tensors(arrays) for arrays in setup.lesson.validation()]
        self._losses: list[Any] = []
        """Of steps whose values nobody has asked the device for yet."""
        self._cap = setup.settings.cap or 0
        self._grade_every = max(1, self._cap // GRADES)

    def go(self) -> None:
        if not self._course.grades:
            self._grade()
        for first, end in self._stretches():
            if self._over():
                return
            self._train([self._trainer.batches(step) for step in range(first, end)])
            if end % self._grade_every == 0 or end == self._cap:
                self._grade()
                self._note(f"training, step {end} of {self._cap}")
            if self._shelf and (end % self._settings.checkpoint_every == 0 or end == self._cap):
                self._shelf.save(self._trainer, end, self._course.kept())

    def _over(self) -> bool:
        course, target = self._course, self._settings.target
        return course.broken is not None or (target is not None and target.reached(course.last))

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """From one step at which there is something to do besides to the next, and no longer than batches are ahead."""
        step = self._course.steps
        while step < self._cap:
            stops = [self._cap, step + _AHEAD, *(_next(step, n) for n in (self._grade_every, self._checkpoint_every))]
            yield step, min(stops)
            step = min(stops)

    @property
    def _checkpoint_every(self) -> int:
        return self._settings.checkpoint_every if self._shelf else self._cap

    def _train(self, batches: Sequence[Sequence[Tensors]]) -> None:
        course, first, before = self._course, self._course.steps, _energy(self._session)
        times = []
        for number, of_step in enumerate(batches, first):
            seed_all(self._settings.seed, number + 1)
            lap = self._session.lap(partial(self._step, of_step), 1)
            times.append(lap.host_ns / 1e6)
        course.spend(sum(times) / 1e3, before, _energy(self._session))
        course.losses += [float(loss) for loss in self._losses]
        self._losses.clear()
        for number, milliseconds in enumerate(times, first):
            self._log.loss(number + 1, course.losses[number], milliseconds)

    def _step(self, batches: Sequence[Tensors]) -> None:
        self._losses.append(self._trainer.step(batches))

    def _grade(self) -> None:
        grade = self._trainer.grade(self._held_out)
        self._course.grades[self._course.steps] = grade
        self._log.grade(self._course.steps, grade)


def _next(step: int, every: int) -> int:
    return (step // every + 1) * every


def _energy(session: Session) -> EnergyReading | None:
    return session.energy() if isinstance(session, CountsEnergy) else None


def course_metrics(course: Course, settings: Settings) -> dict[str, MetricValue]:
    """What training led to."""
    first, last, after = course.grades[min(course.grades)], course.last, f"after {course.steps} steps"
    metrics = {
        "validation_loss": MetricValue(value=last.loss, note=after),
        "validation_loss_untrained": MetricValue(value=first.loss),
    }
    if last.accuracy is not None:
        metrics["validation_accuracy"] = MetricValue(value=last.accuracy, note=after)
        metrics["validation_accuracy_untrained"] = MetricValue(value=first.accuracy)
    if course.losses:
        tail = course.losses[-max(1, course.steps // 10) :]
        metrics["loss"] = MetricValue(value=fmean(tail), n=len(tail))
        metrics["loss_begin"] = MetricValue(value=course.losses[0])
    if course.resumed is not None:
        metrics["resumed_step"] = MetricValue(value=course.resumed)
    return metrics | _to_target(course, settings.target)


def _to_target(course: Course, target: Target | None) -> dict[str, MetricValue]:
    if target is None:
        return {}
    if not target.reached(course.last):
        note = f"{target} was not reached within {course.steps} steps: {target.said(course.last)}"
        return dict.fromkeys(("steps_to_target", "seconds_to_target"), MetricValue(value=None, note=note))
    metrics = {
        "steps_to_target": MetricValue(value=course.steps, note=str(target)),
        "seconds_to_target": MetricValue(value=course.seconds, note=str(target)),
    }
    if course.energy_source:
        note = f"{target}; {course.energy_source}"
        metrics["energy_to_target_j"] = MetricValue(value=course.joules, note=note)
    return metrics
