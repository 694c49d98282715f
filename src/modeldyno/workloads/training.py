"""Training: what a step costs, and, where steps or a target are given, what training leads to."""

from __future__ import annotations

import math
from collections import deque
from itertools import cycle
from statistics import fmean, median
from typing import Any

from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, Check, MetricValue, Outcome, OutputCheck, Passport, Samples, Status
from modeldyno.measure.energy import energy_pass
from modeldyno.measure.memory import memory_pass
from modeldyno.workloads._judged import judged
from modeldyno.workloads._placement import fallback_check, proven
from modeldyno.workloads._sampled import sampled
from modeldyno.workloads._training.check import check_learning
from modeldyno.workloads._training.checkpoint import shelf_of
from modeldyno.workloads._training.course import Course, course_metrics, follow
from modeldyno.workloads._training.memory import memory_split
from modeldyno.workloads._training.operations import compute_metrics
from modeldyno.workloads._training.parts import time_parts
from modeldyno.workloads._training.settings import OPTIONS, read_settings
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads._training.trainer import Trainer

BATCHES = 8
"""Different batches, at most, that the steps whose speed is measured learn from in turn."""
RECENT = 100


class Steps:
    """Steps over a few batches that lie on the device already: making them is no part of a step."""

    def __init__(self, trainer: Trainer) -> None:
        self.trainer = trainer
        few, together = cycle(trainer.first_batches(BATCHES)), trainer.accumulate
        self.batches = [[next(few) for _ in range(together)] for _ in range(max(1, BATCHES // together))]
        """Those of each step. Steps that accumulate more than there are meet the same ones again."""
        self._turn = cycle(self.batches)
        self.count = 0
        self.first: Any = None
        self.recent: deque[Any] = deque(maxlen=RECENT)
        """The last losses, as tensors on the device."""

    def __call__(self) -> None:
        loss = self.trainer.step(next(self._turn))
        if self.first is None:
            self.first = loss
        self.recent.append(loss)
        self.count += 1

    def keep_one(self) -> None:
        """From now on every step learns from the same batches; the memory of the others is free."""
        del self.batches[1:]
        self._turn = cycle(self.batches)

    def metrics(self) -> dict[str, MetricValue]:
        note = f"mean of the last {len(self.recent)} of {self.count} steps over a few batches again and again"
        return {
            "loss": MetricValue(value=fmean(map(float, self.recent)), n=len(self.recent), note=note),
            "loss_begin": MetricValue(value=float(self.first)),
        }


class Training:
    """Speed in the steady state first; then, from the initial weights again, the course to a result."""

    name = "training"
    options = OPTIONS
    shows = ("latency_ms", "throughput_per_s", "tokens_per_s", "memory_peak_mb", "mfu", "loss")

    def check(self, case: Case) -> None:
        settings = read_settings(case.options)
        if settings.dataset:
            from modeldyno import datasets

            datasets.find(settings.dataset)

    def run(self, bench: Bench) -> Outcome:
        setup = Setup.of(bench)
        # Once is enough: it gives the same bits in every process, and a checkpoint has one writer.
        leads = setup.settings.cap is not None and not bench.process and not bench.trial
        if leads and (shelf := shelf_of(setup)):
            shelf.newest()  # one that cannot be used is told now, not after the speed was measured
        bench.note("loading")
        outcome = _speed(setup)
        if not leads or outcome.status is not Status.OK:
            return outcome
        bench.note("training")
        return _with_course(outcome, setup)


def _speed(setup: Setup) -> Outcome:
    bench, trainer = setup.bench, setup.trainer()
    steps = Steps(trainer)
    warm = None if bench.fresh else "first of this shape; the process had run other shapes before"
    metrics = {
        "load_ms": MetricValue(value=setup.load_ms),
        "first_ms": MetricValue(value=bench.session.lap(steps, 1).host_ns / 1e6, note=warm),
    }
    checked = check_learning(setup, trainer)
    if checked and not checked[0].passed:
        return _wrong(setup, checked[0])
    bench.note("measuring")
    samples, trust = sampled(bench, steps)
    losses = steps.metrics()
    if not all(math.isfinite(loss.value or 0.0) for loss in losses.values()):
        return _invalid(setup, f"the loss was no number any more within {steps.count} steps", _slower(setup))
    bench.note("parts, memory, energy where asked, operations")
    parts = time_parts(bench.session, trainer, steps.batches[0], bench.policy)
    metrics |= _sizes(setup, trainer)
    if setup.settings.cap is None:  # else these names are for what the course led to
        metrics |= losses | {"gradient_norm": trainer.gradient_norm()}
    metrics |= energy_pass(bench.session, steps, bench.policy)
    steps.keep_one()
    metrics |= memory_pass(bench.session, steps, bench.policy) | memory_split(trainer, steps.batches[0][0])
    metrics |= compute_metrics(setup, trainer, median(samples.host_ms))
    outcome = _outcome(setup, trainer, steps.first, samples.model_copy(update={"parts": parts}), trust, metrics)
    return _with_check(outcome, *checked) if checked else outcome


def _with_check(outcome: Outcome, check: OutputCheck, gradient: Check) -> Outcome:
    assert outcome.passport is not None
    trust = Passport.of((*outcome.passport.checks, gradient))
    error = MetricValue(value=check.rel_l2, n=check.compared, note="of the loss")
    metrics = {**outcome.metrics, "error_rel_l2": error}
    return outcome.model_copy(update={"check": check, "passport": trust, "metrics": metrics})


def _sizes(setup: Setup, trainer: Trainer) -> dict[str, MetricValue]:
    together = setup.settings.accumulate
    sizes = {
        "items": float(setup.case.batch * together),
        "trained_parameters": float(sum(value.numel() for value in trainer.trained.values())),
    }
    if setup.source.build_ms:
        sizes["build_ms"] = setup.source.build_ms
    if setup.lesson.tokens:
        sizes["tokens"] = float(setup.lesson.tokens * together)
    return {name: MetricValue(value=value) for name, value in sizes.items()}


def _outcome(
    setup: Setup, trainer: Trainer, loss: Any, samples: Samples, trust: Passport, metrics: dict[str, MetricValue]
) -> Outcome:
    placement = proven(setup.placement(trainer, loss), setup.case.precision)
    trust = Passport.of((*trust.checks, fallback_check(placement)))
    return judged(
        trust,
        device=setup.bench.session.device,
        model=setup.source.info,
        placement=placement,
        metrics=metrics,
        samples=samples,
        software=setup.software,
    )


def _with_course(outcome: Outcome, setup: Setup) -> Outcome:
    """The speed's outcome with what training led to."""
    trainer = setup.trainer()
    course: Course = follow(setup, trainer).until(setup.settings.target)
    if course.broken:
        return _invalid(setup, f"the loss was no number any more at step {course.broken}", _slower(setup))
    metrics = outcome.metrics | course_metrics(course, setup.settings)
    if course.steps > (course.resumed or 0):
        metrics["gradient_norm"] = trainer.gradient_norm()
    assert outcome.samples is not None
    parts = {**outcome.samples.parts, "loss": course.losses}
    samples = outcome.samples.model_copy(update={"parts": parts})
    return outcome.model_copy(update={"metrics": metrics, "samples": samples})


def _wrong(setup: Setup, check: OutputCheck) -> Outcome:
    error = "not finite" if check.rel_l2 is None else f"off by {check.rel_l2:.2g} (limit {check.tolerance:g})"
    reason = f"the loss is {error} against {check.reference}"
    outcome = _invalid(setup, reason, "use another precision or runtime for this model")
    return outcome.model_copy(update={"check": check})


def _slower(setup: Setup) -> str:
    return f"use a smaller learning rate than {setup.settings.rate:g} (--option lr=...) or another precision"


def _invalid(setup: Setup, reason: str, remedy: str) -> Outcome:
    return Outcome(
        status=Status.INVALID,
        reason=reason,
        remedy=remedy,
        device=setup.bench.session.device,
        model=setup.source.info,
        software=setup.software,
    )


MEMBER = Training()
