"""Training for a result: from the initial weights, in a fixed order, until the target or the last step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from statistics import fmean
from typing import Any

from modeldyno.core.protocols import CountsEnergy, EnergyReading, Session
from modeldyno.core.types import MetricValue
from modeldyno.workloads._training.chance import repeatable, seed_all
from modeldyno.workloads._training.checkpoint import Checkpoints, identity_of, shelf_of
from modeldyno.workloads._training.logs import Log, NoLog, TensorBoardLog
from modeldyno.workloads._training.settings import Settings
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.target import Grade, Target
from modeldyno.workloads._training.trainer import Tensors, Trainer

GRADE_EVERY = 20
"""Steps from one look at held-out data to the next, whatever the last step: it decides when a target counts as met."""
_AHEAD = 8
"""Batches, at most, that are made and brought to the device before the clock runs; those of one step at least."""


@dataclass(frozen=True)
class Spent:
    """What the steps took."""

    seconds: float = 0.0
    """Of the steps alone."""
    joules: float = 0.0
    """With what the host did in between."""


@dataclass
class Course:
    """How training went so far."""

    losses: list[float] = field(default_factory=list)
    grades: dict[int, Grade] = field(default_factory=dict)
    """On held-out data after so many steps."""
    spent: Spent = Spent()
    spent_by: dict[int, Spent] = field(default_factory=dict)
    """Until each of the grades."""
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
        """The first step whose loss is no number, or after which that on held-out data is none."""
        learned = ((step, loss) for step, loss in enumerate(self.losses, 1))
        held_out = ((step, grade.loss) for step, grade in self.grades.items())
        return min((step for step, loss in (*learned, *held_out) if not math.isfinite(loss)), default=None)

    def met(self, target: Target | None) -> int | None:
        """The first step at which held-out data met the target."""
        return next((step for step, grade in sorted(self.grades.items()) if target and target.reached(grade)), None)

    def until(self, target: Target | None) -> Course:
        """As it was when the target was met: a checkpoint may come from a training that went on beyond."""
        end = self.met(target)
        if end is None:
            return self
        grades = {step: grade for step, grade in self.grades.items() if step <= end}
        return replace(self, losses=self.losses[:end], grades=grades, spent=self.spent_by[end])

    def note(self, grade: Grade) -> None:
        self.grades[self.steps], self.spent_by[self.steps] = grade, self.spent

    def spend(self, seconds: float, before: EnergyReading | None, after: EnergyReading | None) -> None:
        joules = 0.0
        if before and after:
            joules, self.energy_source = after.joules - before.joules, after.source
        self.spent = Spent(self.spent.seconds + seconds, self.spent.joules + joules)

    def kept(self) -> dict[str, Any]:
        """As plain values, for a checkpoint."""
        return asdict(self)

    @classmethod
    def again(cls, kept: dict[str, Any], cap: int) -> Course:
        """From a checkpoint; the grade at the end of a training that was shorter is none of this one."""
        spent_by = {step: Spent(**spent) for step, spent in kept["spent_by"].items()}
        grades = {step: Grade(**grade) for step, grade in kept["grades"].items() if _is_graded(step, cap)}
        own = {"grades": grades, "spent": Spent(**kept["spent"]), "spent_by": spent_by}
        return cls(**{**kept, **own, "resumed": len(kept["losses"])})


def follow(setup: Setup, trainer: Trainer) -> Course:
    """The whole course, or the rest of one that was interrupted."""
    settings = setup.settings
    shelf = shelf_of(setup)
    kept = shelf.restore(trainer) if shelf else None
    course = Course.again(kept, settings.cap or 0) if kept else Course()
    log: Log = NoLog()
    if settings.tensorboard:
        name = f"{setup.case.model.replace('/', '-')}-{identity_of(setup)}"
        log = TensorBoardLog(settings.tensorboard / name, course.steps)
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
        self._ahead = max(1, _AHEAD // setup.settings.accumulate)

    def go(self) -> None:
        self._look()
        for first, end in self._stretches():
            if self._over():
                return
            self._train([self._trainer.batches(step) for step in range(first, end)])
            self._look()
            if end % self._checkpoint_every == 0 or end == self._cap:
                self._keep()

    def _over(self) -> bool:
        course, target = self._course, self._settings.target
        return course.broken is not None or course.met(target) is not None

    def _stretches(self) -> Iterator[tuple[int, int]]:
        """From one step at which there is something to do besides to the next, and no longer than batches are ahead."""
        step = self._course.steps
        while step < self._cap:
            stops = [self._cap, step + self._ahead, *(_next(step, n) for n in (GRADE_EVERY, self._checkpoint_every))]
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

    def _look(self) -> None:
        """At held-out data, where that is due."""
        step = self._course.steps
        if step in self._course.grades or not _is_graded(step, self._cap):
            return
        grade = self._trainer.grade(self._held_out)
        self._course.note(grade)
        self._log.grade(step, grade)
        self._note(f"training, step {step} of {self._cap}")

    def _keep(self) -> None:
        """A state that is no number any more must not take the place of a good one."""
        if self._shelf and self._course.broken is None and self._trainer.is_finite():
            self._shelf.save(self._trainer, self._course.steps, self._course.kept())


def _is_graded(step: int, cap: int) -> bool:
    return step % GRADE_EVERY == 0 or step == cap


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
    end = course.met(target)
    if end is None:
        note = f"{target} was not reached within {course.steps} steps: {target.said(course.last)}"
        return dict.fromkeys(("steps_to_target", "seconds_to_target"), MetricValue(value=None, note=note))
    metrics = {
        "steps_to_target": MetricValue(value=end, note=str(target)),
        "seconds_to_target": MetricValue(value=course.spent_by[end].seconds, note=str(target)),
    }
    if course.energy_source:
        note = f"{target}; {course.energy_source}"
        metrics["energy_to_target_j"] = MetricValue(value=course.spent_by[end].joules, note=note)
    return metrics
