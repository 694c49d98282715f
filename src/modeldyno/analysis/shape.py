"""What the samples of a measurement look like: outliers, drift, modes and spread. They are labelled, never dropped."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from modeldyno.core.types import Record
from modeldyno.measure.statistics import mad, spread

MILD, FAR = 1.5, 3.0
"""Tukey's fences in interquartile ranges (Exploratory Data Analysis, 1977)."""
EXTREME_Z = 10.0
SPREAD_WARNING, SPREAD_STRONG = 0.10, 0.25
"""Interquartile range over the median."""
SMALLEST_DRIFT = 0.01
"""A trend over the whole measurement below this share of the median is not worth a word, however sure it is."""
SMALLEST_GAP = 0.02
"""The same for the distance between two modes."""
SMALLEST_MODE = 0.05
"""A mode holds at least this share of the samples."""
FEWEST_FOR_DRIFT, FEWEST_FOR_MODES = 10, 20
_LARGEST = 1e30
"""No time in any unit."""
_RESOLUTION = 0.001
"""Share of the median; where most samples are equal, the fences still have this width."""
_DRIFT_P = 0.01
_BLOCK, _FEWEST_BLOCKS, _MOST_BLOCKS = 4, 10, 50
"""Trends are looked for in blocks of four samples or more: that takes out short correlation, and time stays small."""
_MODES_P = 0.005
_FEWEST_IN_MODE = 5
_FEWEST_DISTINCT = 0.25
"""Share of the samples; with fewer different ones the clock is too coarse to speak of modes."""

Floats = npt.NDArray[np.float64]


class Label(StrEnum):
    """How far a sample lies from the rest."""

    MILD = "mild"
    FAR = "far"
    EXTREME = "extreme"
    """Modified z above 10 (Iglewicz and Hoaglin, 1993)."""


@dataclass(frozen=True)
class Outlier:
    """One sample that is labelled."""

    place: int
    value: float
    label: Label


@dataclass(frozen=True)
class Drift:
    """A trend from the first sample to the last."""

    change: float
    """Over the whole measurement, as a share of the median; positive for slower."""
    p_value: float


@dataclass(frozen=True)
class Modes:
    """Two heaps of samples with a gap between them."""

    low: float
    high: float
    """Their medians."""
    share_high: float
    """Of the samples in the higher one."""


@dataclass(frozen=True)
class SampleShape:
    """What is to be said of the samples of one process."""

    n: int
    not_numbers: int
    """Samples that are NaN or beyond all bounds; they take no part in the rest."""
    outliers: tuple[Outlier, ...] = ()
    drift: Drift | None = None
    modes: Modes | None = None
    spread: float | None = None
    """Interquartile range over the median; None where the median is not positive."""

    def count(self, label: Label) -> int:
        return sum(outlier.label is label for outlier in self.outliers)


def describe(samples: Sequence[float]) -> SampleShape:
    """Labels, drift, modes and spread of the samples of one process, in the order they were taken."""
    given = np.asarray(samples, dtype=float)
    usable = np.abs(given) < _LARGEST  # a NaN is not
    values = given[usable]
    n, lost = len(values), len(given) - len(values)
    if n == 0 or float(np.median(values)) < 1 / _LARGEST:
        return SampleShape(n, lost)
    return SampleShape(
        n, lost, _outliers(np.where(usable, given, np.nan)), _drift(values), _modes(values), spread(values.tolist())
    )


def describe_record(record: Record) -> tuple[str, ...]:
    """What the raw samples of a record tell, as sentences that end in what to do; none where all is as it should be."""
    several = len(record.samples) > 1
    return tuple(
        f"process {samples.process}: {sentence}" if several else sentence
        for samples in record.samples
        for sentence in sentences(describe(samples.host_ms))
    )


def sentences(shape: SampleShape) -> tuple[str, ...]:
    """What is worth a word, with advice."""
    found = []
    if shape.not_numbers:
        found.append(f"{shape.not_numbers} samples are no numbers: measure this case again.")
    if far := shape.count(Label.FAR) + shape.count(Label.EXTREME):
        found.append(f"{far} of {shape.n} samples lie far from the rest: trust the median, not the mean.")
    if shape.drift:
        word = "slower" if shape.drift.change > 0 else "faster"
        change = f"{abs(shape.drift.change):.1%} {word}"
        found.append(f"the steps became {change} while sampling: look at clocks and temperature, or warm up longer.")
    if modes := shape.modes:
        groups = f"{modes.low:.4g} and {modes.high:.4g} ms ({modes.share_high:.0%} in the slower)"
        found.append(f"the samples fall into two groups, {groups}: look for clock changes or other work on the device.")
    if shape.spread is not None and shape.spread > SPREAD_WARNING:
        degree = "very noisy" if shape.spread > SPREAD_STRONG else "noisy"
        found.append(f"the middle half of the samples spans {shape.spread:.0%} of the median, {degree}: free the host.")
    return tuple(found)


def _outliers(given: Floats) -> tuple[Outlier, ...]:
    """Each labelled once, with the strongest that holds."""
    values = given[np.isfinite(given)]
    low, middle, high = np.quantile(values, (0.25, 0.5, 0.75))
    outside = np.maximum(low - given, given - high)
    floor = _RESOLUTION * float(middle)
    reach, deviation = max(float(high - low), floor), max(mad(values.tolist()), floor / 2)
    found = []
    for place in np.flatnonzero(outside > MILD * reach):
        z = 0.6745 * abs(given[place] - middle) / deviation
        label = Label.EXTREME if z > EXTREME_Z else Label.FAR if outside[place] > FAR * reach else Label.MILD
        found.append(Outlier(int(place), float(given[place]), label))
    return tuple(found)


def _drift(values: Floats) -> Drift | None:
    """Mann-Kendall's rank test with the variance corrected for autocorrelation (Hamed and Rao, J. Hydrology 204, 1998),
    on the medians of blocks; the size of the trend is Theil and Sen's slope."""
    from scipy.special import ndtr

    if len(values) < FEWEST_FOR_DRIFT:
        return None
    n = min(max(_FEWEST_BLOCKS, len(values) // _BLOCK), _MOST_BLOCKS)
    blocks = np.array([np.median(block) for block in np.array_split(values, n)])
    later, earlier = np.tril_indices(n, -1)
    differences = blocks[later] - blocks[earlier]
    slope = float(np.median(differences / (later - earlier)))
    change = slope * (n - 1) / float(np.median(blocks))
    score = float(np.sign(differences).sum())
    deviation = math.sqrt(_score_variance(blocks, slope))
    if deviation == 0 or abs(change) < SMALLEST_DRIFT:
        return None
    p_value = 2 * float(ndtr(-max(0.0, abs(score) - 1) / deviation))
    return Drift(change, p_value) if p_value < _DRIFT_P else None


def _score_variance(blocks: Floats, slope: float) -> float:
    n = len(blocks)
    _, ties = np.unique(blocks, return_counts=True)
    variance = (n * (n - 1) * (2 * n + 5) - float((ties * (ties - 1) * (2 * ties + 5)).sum())) / 18
    ranks = (blocks - slope * np.arange(n)).argsort().argsort().astype(float)
    ranks -= ranks.mean()
    power = float((ranks**2).sum())
    lags = np.arange(1, n // 4 + 1)
    correlation = np.array([float((ranks[lag:] * ranks[:-lag]).sum()) / power for lag in lags])
    correlation[correlation < 1.645 / math.sqrt(n)] = 0.0  # only what is there for sure, and never a narrower variance
    weights = (n - lags) * (n - lags - 1) * (n - lags - 2)
    return variance * (1 + 2 / (n * (n - 1) * (n - 2)) * float((weights * correlation).sum()))


def _modes(values: Floats) -> Modes | None:
    """Two groups by Fisher's split of the logarithms, if the valley between them is emptier than one mode allows.

    In any distribution with one mode the valley is at least as dense as the thinner of the two groups, so the count in
    it is held against Poisson's law with that density. This project's own; a test holds it to at most 2 % false ones of
    100 lognormal, exponential, heavy-tailed or autocorrelated samples."""
    if len(values) < FEWEST_FOR_MODES or values.min() <= 0 or len(np.unique(values)) < len(values) * _FEWEST_DISTINCT:
        return None
    ordered = np.sort(np.log(values))
    cut = _split(ordered)
    low, high = ordered[:cut], ordered[cut:]
    fewest = max(_FEWEST_IN_MODE, SMALLEST_MODE * len(ordered))
    if min(len(low), len(high)) < fewest or _valley_p_value(ordered, low, high) > _MODES_P:
        return None
    modes = Modes(math.exp(np.median(low)), math.exp(np.median(high)), len(high) / len(ordered))
    return modes if modes.high / modes.low >= 1 + SMALLEST_GAP else None


def _valley_p_value(ordered: Floats, low: Floats, high: Floats) -> float:
    from scipy.special import pdtr

    begin, end = np.quantile(low, 0.9), np.quantile(high, 0.1)
    thinner = min(_density(low), _density(high))
    inside = int(((ordered > begin) & (ordered < end)).sum())
    return float(pdtr(inside, thinner * (end - begin))) if math.isfinite(thinner) else 1.0


def _density(group: Floats) -> float:
    """Samples per width in the middle half."""
    width = float(np.subtract(*np.quantile(group, (0.75, 0.25))))
    return len(group) / 2 / width if width > 0 else math.inf


def _split(ordered: Floats) -> int:
    """Where two means part the values with the least spread inside (Fisher, JASA 53, 1958)."""
    n = len(ordered)
    sums = np.cumsum(ordered)[:-1]
    counts = np.arange(1, n)
    between = (sums / counts - (ordered.sum() - sums) / (n - counts)) ** 2 * counts * (n - counts)
    return int(between.argmax()) + 1
