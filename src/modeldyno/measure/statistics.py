"""The statistics of a measurement as pure functions over raw samples, each with its source."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

Values = Sequence[float]

FEWEST_FOR_INTERVAL = 6
"""With fewer samples the whole range covers the median in less than 95 % of cases: 1 - 2 * 0.5**n."""
CONFIDENCE = 0.95
_EXACT = 500
"""Values up to which binomial coefficients are summed; beyond that they are as good as normal."""
PERCENTILE_SAMPLES = {90: 64, 95: 130, 97: 219, 99: 662}
"""Samples below which a percentile is not given: MLPerf's early-stopping rule at 99 % confidence."""


@dataclass(frozen=True)
class Interval:
    """A point estimate with its 95 % interval."""

    value: float
    low: float
    high: float

    @property
    def relative_half_width(self) -> float:
        return (self.high - self.low) / 2 / self.value if self.value else math.inf


def median_interval(values: Values) -> Interval:
    """Median and its 95 % interval by interpolated order statistics (Hettmansperger and Sheather, 1986).

    Plain ranks can only be had in steps, and cover 98 to 99 % of cases where there are few values. With fewer than six
    values no ranks cover 95 %, and the interval is the whole range.
    """
    ordered = np.sort(np.asarray(values, dtype=float))
    n = len(ordered)
    if n < FEWEST_FOR_INTERVAL:
        return Interval(float(np.median(ordered)), float(ordered[0]), float(ordered[-1]))
    rank, share = _median_rank(n)
    low = ordered[rank - 1] + share * (ordered[rank] - ordered[rank - 1])
    high = ordered[n - rank] - share * (ordered[n - rank] - ordered[n - rank - 1])
    return Interval(float(np.median(ordered)), float(low), float(high))


@lru_cache(maxsize=4096)
def _median_rank(n: int) -> tuple[int, float]:
    """The rank of the lower bound, and how far it lies towards the next one."""
    if n > _EXACT:
        place = n / 2 - 0.98 * math.sqrt(n) + 0.5  # the binomial's normal approximation
        return math.floor(place), place - math.floor(place)
    below, rank = 0.5**n, 1
    while True:
        covered = 1 - 2 * below  # by the ranks `rank` and its mirror
        further = below + math.comb(n, rank) * 0.5**n
        if 1 - 2 * further < CONFIDENCE:
            break
        below, rank = further, rank + 1
    surplus = (covered - CONFIDENCE) / (covered - (1 - 2 * further))
    return rank, (n - rank) * surplus / (rank + (n - 2 * rank) * surplus)


def grouped_median_interval(groups: Sequence[Values]) -> Interval:
    """Median over several processes with its 95 % interval; every process counts alike, however long it sampled.

    The process is the unit of replication (Kalibera and Jones, "Rigorous benchmarking in reasonable time", 2013), so
    the interval is Student's on the logarithms of the processes' medians. One group falls back on ranks.
    """
    arrays = [np.asarray(group, dtype=float) for group in groups if len(group)]
    if len(arrays) == 1:
        return median_interval(arrays[0].tolist())
    medians = [float(np.median(array)) for array in arrays]
    centre = float(np.median(medians))
    if min(medians) <= 0:
        return Interval(centre, min(medians), max(medians))
    logs = np.log(medians)
    half = student(len(logs) - 1) * float(logs.std(ddof=1)) / math.sqrt(len(logs))
    middle = float(logs.mean())
    low, high = math.exp(middle - half), math.exp(middle + half)
    return Interval(centre, min(low, centre), max(high, centre))


def student(freedom: int) -> float:
    """97.5 % quantile of Student's t; past the table Fisher's expansion, right to three digits."""
    table = (12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262)
    return table[freedom - 1] if freedom <= len(table) else 1.96 + 2.372 / freedom + 2.82 / freedom**2


def relative_deviation(values: Values) -> float:
    """Standard deviation over the mean: nvbench's measure of noise."""
    array = np.asarray(values, dtype=float)
    mean = float(array.mean())
    return float(array.std(ddof=1)) / mean if mean and len(array) > 1 else 0.0


def windows_agree(first: Values, second: Values) -> bool:
    """Whether two windows of a warm-up look alike: quartiles within 5 %, mean and MAD within 10 % (pyperf).

    The spread is held against the median, not against itself: the MAD of ten samples alone varies by more.
    """
    a, b = np.asarray(first, dtype=float), np.asarray(second, dtype=float)
    level = float(np.median(b))
    if level <= 0:
        return False
    quartiles = np.abs(np.quantile(a, (0.25, 0.75)) - np.quantile(b, (0.25, 0.75))) / level
    mean = abs(float(a.mean() - b.mean())) / level
    spread = abs(mad(a.tolist()) - mad(b.tolist())) / level
    return bool(quartiles.max() <= 0.05 and mean <= 0.10 and spread <= 0.10)


def mad(values: Values) -> float:
    """Median absolute deviation from the median."""
    array = np.asarray(values, dtype=float)
    return float(np.median(np.abs(array - np.median(array))))


def spread(values: Values) -> float:
    """Interquartile range over the median: above 10 % is a warning, above 25 % a strong one."""
    low, middle, high = np.quantile(np.asarray(values, dtype=float), (0.25, 0.5, 0.75))
    return float((high - low) / middle) if middle else math.inf


def percentile(values: Values, rank: int) -> float | None:
    """The percentile, or None where there are too few samples to tell it from the maximum."""
    if len(values) < PERCENTILE_SAMPLES[rank]:
        return None
    return float(np.quantile(np.asarray(values, dtype=float), rank / 100))


def noise_settled(noise: Values, window: int = 64, limit: float = 0.05) -> bool:
    """Whether the noise estimate itself no longer changes: relative deviation of the last ones (nvbench)."""
    if len(noise) < window:
        return False
    recent = np.asarray(noise[-window:], dtype=float)
    mean = float(recent.mean())
    return mean > 0 and float(recent.std()) / mean < limit


def outlier_share(values: Values, fence: float = 3.0) -> float:
    """Share of samples beyond Tukey's far fences; they are labelled, never dropped."""
    array = np.asarray(values, dtype=float)
    low, high = np.quantile(array, (0.25, 0.75))
    reach = fence * (high - low)
    return float(((array < low - reach) | (array > high + reach)).mean())
