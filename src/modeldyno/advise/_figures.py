"""Numbers of a candidate, measured or predicted, in one shape: with interval, and with what the risk follows from."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from modeldyno.advise.prices import Hourly
from modeldyno.advise.wishes import PER_HOUR, Goal
from modeldyno.analysis.best import bounds
from modeldyno.analysis.ratio import ALLOWED_SPREAD, Estimate, estimate, ratio
from modeldyno.core.metrics import Direction
from modeldyno.core.types import Record
from modeldyno.predict.prediction import Prediction

_NORMAL_90 = 1.645
_MILLION = 1e6
_HOUR_S = 3600.0


@dataclass(frozen=True)
class Figure:
    """One number; its interval is 95 % where it was measured, 90 % where it was predicted."""

    value: float | None
    low: float | None = None
    high: float | None = None
    spread: Estimate | None = None
    """Its logarithm with the variance of that."""
    note: str | None = None
    """Why there is no value, or what to know of it."""

    def times(self, factor: float) -> Figure:
        spread = self.spread and _scaled(self.spread, factor)
        value, low, high = (number and number * factor for number in (self.value, self.low, self.high))
        return Figure(value, low, high, spread, self.note)

    def under(self, factor: float) -> Figure:
        """So much over this: a time becomes a rate."""
        if not self.value:
            return self
        turned = self.spread and replace(self.spread, value=1 / self.value, centre=-self.spread.centre)
        low, high = self.high and 1 / self.high, self.low and 1 / self.low
        return Figure(1 / self.value, low, high, turned, self.note).times(factor)


def _scaled(spread: Estimate, factor: float) -> Estimate:
    if spread.value is None:
        return spread
    return replace(spread, value=spread.value * factor, centre=spread.centre + math.log(factor))


def missing(note: str) -> Figure:
    return Figure(None, note=note)


def of_record(record: Record, name: str) -> Figure:
    """A metric of a record; a time, a rate or a size that is zero or less was not measured."""
    metric = record.metrics.get(name)
    if metric is None or metric.value is None:
        return missing((metric and metric.note) or f"no {name} was measured")
    if not (math.isfinite(metric.value) and metric.value > 0):
        return missing(f"{name} is {metric.value:g}")
    return Figure(metric.value, metric.low, metric.high, _spread(record, name), metric.note)


def _spread(record: Record, name: str) -> Estimate:
    """As the analysis has it; with too few samples for an interval, their range is taken for a standard deviation; of
    memory, which is read once, what processes may differ by."""
    known, within = estimate(record, name), bounds(record, name)
    if name == Goal.MEMORY.metric and known.value is not None and known.variance is None:
        return replace(known, variance=ALLOWED_SPREAD**2)
    if known.variance is not None or known.value is None or within is None or not within[0] > 0:
        return known
    deviation = math.log(within[1] / within[0]) / 2
    return replace(known, variance=deviation**2 + ALLOWED_SPREAD**2)


def of_prediction(answer: Prediction) -> Figure:
    """Milliseconds of one item. The interval is taken for one of a normal distribution of the logarithm."""
    if answer.why_not is not None or not answer.value:
        return missing(answer.why_not or "no prediction")
    if not (answer.low and answer.high):
        return Figure(answer.value, spread=Estimate(answer.value, math.log(answer.value)))
    deviation = math.log(answer.high / answer.low) / 2 / _NORMAL_90
    spread = Estimate(answer.value, math.log(answer.value), max(deviation, 1e-6) ** 2)
    return Figure(answer.value, answer.low, answer.high, spread)


def measured_figure(record: Record, name: str, price: Hourly) -> Figure:
    """What a limit or a goal asks for."""
    if name == PER_HOUR:
        return Figure(price.amount, note=price.why_not)
    if name == Goal.THROUGHPUT.metric and record.value(name) is None:
        return of_record(record, Goal.LATENCY.metric).under(1e3 * record.case.batch)
    return of_record(record, name)


def predicted_figure(told: Mapping[str, Figure], batch: int, name: str, price: Hourly) -> Figure:
    """Likewise of predictions by metric, of which the latency is of one item; a median is no percentile."""
    if name == PER_HOUR:
        return Figure(price.amount, note=price.why_not)
    per_item = told.get(Goal.LATENCY.metric, missing("too little was measured to predict from"))
    if name == Goal.LATENCY.metric:
        return per_item.times(batch)
    if name == Goal.THROUGHPUT.metric:
        return per_item.under(1e3)
    return told.get(name, missing(f"{name} is not predicted"))


def towards(goal: Goal, figure: Figure, batch: int, price: Hourly) -> Figure:
    """The metric of a goal in the goal's own unit: energy of an item, cost of a million items."""
    if goal is Goal.ENERGY:
        return figure.times(1 / batch)
    if goal is not Goal.COST:
        return figure
    if price.amount is None:
        return missing(price.why_not or "no price is known")
    return figure.under(price.amount / _HOUR_S * _MILLION)


def chance_better(other: Figure, first: Figure, direction: Direction) -> float | None:
    """How likely the other is really better, from both intervals; None where one of them has none.

    The logarithms are taken for normal, with Student's distribution where a few processes are all that is known."""
    from scipy.special import stdtr

    if other.spread is None or first.spread is None:
        return None
    held = ratio(first.spread, other.spread)
    if held.interval is None:
        return None
    sign = -1.0 if direction is Direction.MORE else 1.0
    return float(stdtr(held.freedom, -sign * held.centre / held.error))


def chance_any(chances: list[float]) -> float:
    """At most this likely any of them is: they all are held against the same first, so if one is not better the others
    are the less likely to be (Slepian 1962); with no such tie it would be exactly this."""
    return 1 - math.prod(1 - chance for chance in chances)
