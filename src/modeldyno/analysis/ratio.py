"""The ratio of two measurements with its 95 % interval, from their raw samples where there are any.

The process is the unit of replication (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013), so the
interval is Welch's (Biometrika 34, 1947) on the logarithms of the processes' medians. `benchmarks/coverage.py` holds it
against a hierarchical bootstrap: with two or three processes it covers 95 to 99 %, the bootstrap down to 80 %."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, median, variance

from modeldyno.analysis.noise import RESOLUTION
from modeldyno.core.types import MetricValue, Record
from modeldyno.measure.statistics import FEWEST_FOR_INTERVAL, Interval, median_interval

ALLOWED_SPREAD = 0.06
"""Standard deviation between processes that is allowed for where only one was measured: with it the medians of three
lie within 10 % of each other (range = 1.69 sd), which is as far as a passport lets them."""
_NORMAL = 1.96
_FARTHEST = 1e30
"""Beyond this ratio one of the two is no measurement."""
_WIDEST = math.log(1e6)
"""Half of the widest interval that still says something."""
_MOST_FREEDOM = 1e6
_COLUMNS = {
    "latency_ms": ("host_ms", 1),
    "throughput_per_s": ("host_ms", -1),
    "tokens_per_s": ("host_ms", -1),
    "compute_rate_gflops": ("host_ms", -1),
    "bandwidth_gb_per_s": ("host_ms", -1),
    "launch_us": ("host_ms", 1),
    "device_time_ms": ("device_ms", 1),
    "device_time_cold_ms": ("device_cold_ms", 1),
}
"""Metrics that follow from a column of raw samples, and whether they grow or shrink with it."""
_RANGE = "range over"
"""What the note of a metric says when its bounds are a range and no interval."""
_RANGE_IN_SD = (1.128, 1.693, 2.059, 2.326, 2.534, 2.704, 2.847, 2.970, 3.078)
"""Expected range of 2 to 10 normal values in standard deviations (Tippett, Biometrika 17, 1925)."""


@dataclass(frozen=True)
class Estimate:
    """One side of a ratio."""

    value: float | None
    centre: float = 0.0
    """Mean of the logarithms over the processes."""
    variance: float | None = None
    """Of the centre; None where nothing is known of it."""
    freedom: float = math.inf
    note: str | None = None
    """Caveat, or why there is no value or no interval."""


@dataclass(frozen=True)
class Ratio:
    """New over old."""

    value: float | None
    """None where there is none, such as of a zero."""
    interval: Interval | None = None
    centre: float = 0.0
    """Logarithm of the ratio that the interval is around."""
    error: float = 0.0
    """Standard error of the centre."""
    freedom: float = math.inf
    notes: tuple[str, ...] = ()

    def p_value(self, margin: float) -> float | None:
        """How likely so large a change would be if the true one were within the margin (two-sided t-test).

        At most 0.05 exactly when the 95 % interval around the centre lies beyond the margin."""
        from scipy.special import stdtr

        if self.interval is None:
            return None
        beyond = abs(self.centre) - math.log1p(margin)
        return min(1.0, 2 * float(stdtr(self.freedom, -beyond / self.error)))


def ratio_of_records(old: Record, new: Record, name: str) -> Ratio:
    """The ratio of one metric of two records."""
    return ratio(estimate(old, name), estimate(new, name))


def ratio(old: Estimate, new: Estimate) -> Ratio:
    """Welch's interval, with the degrees of freedom by Satterthwaite."""
    from scipy.special import stdtrit

    notes = tuple(dict.fromkeys(side.note for side in (old, new) if side.note))
    if old.value is None or new.value is None:
        return Ratio(None, notes=notes)
    value = new.value / old.value
    if not 1 / _FARTHEST < value < _FARTHEST:
        return Ratio(None, notes=(*notes, "the two values are too far apart for a ratio"))
    if old.variance is None or new.variance is None:
        return Ratio(value, notes=notes)
    error = math.sqrt(old.variance + new.variance)
    freedom, centre = _freedom(old, new), new.centre - old.centre
    half = float(stdtrit(freedom, 0.975)) * error
    if half > _WIDEST:
        return Ratio(value, notes=(*notes, "the processes disagree too much for an interval"))
    interval = Interval(value, min(value, math.exp(centre - half)), max(value, math.exp(centre + half)))
    return Ratio(value, interval, centre, error, freedom, notes)


def _freedom(old: Estimate, new: Estimate) -> float:
    sides = [(side.variance or 0.0, side.freedom) for side in (old, new)]
    spent = sum(v * v / freedom for v, freedom in sides)
    total = sum(v for v, _ in sides)
    return min(total * total / spent, _MOST_FREEDOM) if spent > 0 else _MOST_FREEDOM


def estimate(record: Record, name: str) -> Estimate:
    """One metric of a record: from the raw samples it follows from, else from its stored interval."""
    metric = record.metrics.get(name)
    if metric is None or metric.value is None:
        return Estimate(None, note=(metric and metric.note) or f"no {name} was measured")
    if not (math.isfinite(metric.value) and metric.value > 0):
        return Estimate(None, note=f"{name} is {metric.value:g}, of which there is no ratio")
    column, sign = _COLUMNS.get(name, ("", 1))
    groups = [samples.parts.get(name, []) for samples in record.samples]
    if column and not any(groups):
        groups = [getattr(samples, column) for samples in record.samples]
    return estimate_of_samples(groups, metric.value, sign) if any(groups) else _from_stored(metric, metric.value)


def estimate_of_samples(groups: Sequence[Sequence[float]], value: float | None = None, sign: int = 1) -> Estimate:
    """From the samples of each process; `value` is what they amount to, a rate (`sign` -1) where it is one."""
    finite = [[sample for sample in group if math.isfinite(sample)] for group in groups]
    medians = [median(group) for group in finite if group]
    if not medians or min(medians) <= 0:
        return Estimate(None, note="the samples hold no positive number")
    middle = median(medians) if value is None else value
    if len(medians) == 1:
        return _from_one_process(next(filter(None, finite)), middle)
    logs = [math.log(each) for each in medians]
    centre = math.log(middle) + sign * (fmean(logs) - math.log(median(medians)))
    return Estimate(middle, centre, max(variance(logs), RESOLUTION**2) / len(logs), len(logs) - 1)


def _from_one_process(samples: Sequence[float], value: float) -> Estimate:
    """The rank interval of its median, and an allowance for the processes that were not measured."""
    if len(samples) < FEWEST_FOR_INTERVAL:
        return Estimate(value, math.log(value), note=f"no interval from {len(samples)} samples")
    interval = median_interval(samples)
    if interval.low <= 0:
        return Estimate(value, math.log(value), note="its interval reaches zero")
    note = f"one process: a spread of {ALLOWED_SPREAD:.0%} between processes is allowed for"
    return _with_allowance(value, interval.low, interval.high, note)


def _from_stored(metric: MetricValue, value: float) -> Estimate:
    if metric.low is None or metric.high is None:
        return Estimate(value, math.log(value), note="a single number without an interval")
    if not 0 < metric.low <= metric.high < math.inf:
        return Estimate(value, math.log(value), note="its interval reaches zero or is none")
    if _RANGE in (metric.note or "") and metric.n and metric.n > 1:
        count = min(metric.n, len(_RANGE_IN_SD) + 1)
        deviation = max(math.log(metric.high / metric.low) / _RANGE_IN_SD[count - 2], RESOLUTION)
        return Estimate(value, math.log(value), deviation**2 / count, count - 1)
    note = f"from stored intervals: a spread of {ALLOWED_SPREAD:.0%} between processes is allowed for"
    return _with_allowance(value, metric.low, metric.high, note)


def _with_allowance(value: float, low: float, high: float, note: str) -> Estimate:
    within = math.log(high / low) / 2 / _NORMAL
    return Estimate(value, math.log(value), within**2 + ALLOWED_SPREAD**2, note=note)
