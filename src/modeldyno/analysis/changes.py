"""Where the level of a series changes: numbers in, change points out.

Binary segmentation (Scott and Knott, Biometrics 30, 1974) with two questions to each stretch of the series: is it two
levels, and is there a bump in it that goes away again (circular binary segmentation: Olshen et al., Biostatistics 5,
2004; without it two opposite steps hide each other). Both statistics are the largest of many, and the noise they are
held against is estimated from the same values, so what they reach without any change comes from a simulation; see
`calibration`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from modeldyno.analysis.calibration import BUMP, SHORTEST, SPLIT, p_value
from modeldyno.analysis.noise import (
    ASSUMED,
    RESOLUTION,
    Array,
    Noise,
    centred,
    noise_bound,
    noise_of_rows,
    variance_of_difference,
)

ALPHA = 0.005
"""A change counts when noise alone would show one like it in at most this share of series."""
FALSE_ALARMS = 0.01
"""What that amounts to at most in series of 100 points, with autocorrelation up to 0.5: `benchmarks/detection.py`."""
SHORTEST_BUMP = 5
_BUMP_REACH = 2.0
"""Two or three spikes side by side are no level: inside a series each value has little say."""
BUMP_SHARE = 0.1
"""Of the false alarms that may happen, those spent on bumps."""
_GROWTH = 1.5


@dataclass(frozen=True)
class ChangePoint:
    """The level from `place` on differs from the one before it."""

    place: int
    p_value: float
    """How often noise alone, in a stretch as long as the one that was looked at, gives as clear a change anywhere."""


@dataclass(frozen=True)
class Largest:
    """The largest statistic of each row, and the stretch [begin, end) that it sets apart."""

    value: Array
    begin: NDArray[np.int64]
    end: NDArray[np.int64]


def on_scale(values: Sequence[float]) -> tuple[Array, float]:
    """The values as the analysis sees them and the smallest noise that it believes in.

    Logarithms where all are positive, for then a change is a ratio and noise grows with the level; else shares of the
    largest."""
    array = np.asarray(values, dtype=float)
    if array.size and array.min() > 0:
        return np.log(array), RESOLUTION
    largest = float(np.abs(array).max(initial=0.0))
    shares = array / largest if largest else array
    return shares, RESOLUTION * float(np.abs(shares).mean()) if largest else RESOLUTION


def find_changes(values: Sequence[float], alpha: float = ALPHA) -> tuple[ChangePoint, ...]:
    """The change points of finite values in order of time; none where there are fewer than two levels' worth."""
    series, resolution = on_scale(values)
    found: dict[int, float] = {}
    stretches = [(0, len(series))]
    while stretches:
        begin, end = stretches.pop()
        places, p = _look(series[begin:end], resolution)
        if p <= alpha:
            edges = [begin, *(begin + place for place in places), end]
            found |= dict.fromkeys(edges[1:-1], p)
            stretches += pairwise(edges)
    return _settled(series, resolution, found)


def _look(stretch: Array, resolution: float) -> tuple[tuple[int, ...], float]:
    """The best one or two change points of a stretch and their p-value."""
    count = len(stretch)
    if count < 2 * SHORTEST or np.ptp(stretch) == 0:
        return (), 1.0
    place, of_split = _best_split(stretch, resolution)
    bump = largest_bump(stretch[None, :], np.array([[resolution]]))
    of_bump = p_value(BUMP, count, float(bump.value[0])) / BUMP_SHARE if bump else 1.0
    if bump and of_bump < of_split:
        return (int(bump.begin[0]), int(bump.end[0])), of_bump
    return (place,), of_split


def largest_split(stack: Array, resolution: Array) -> Largest:
    """Per row: the largest difference between the means before and after a place, in its own standard errors."""
    values, floor = centred(stack, resolution)
    count = values.shape[-1]
    places = np.arange(SHORTEST, count - SHORTEST + 1)
    ends = np.full_like(places, count)
    return _largest(values, floor, places, ends)


def largest_bump(stack: Array, resolution: Array) -> Largest | None:
    """Per row: the largest difference between the mean inside a window and that outside of it, likewise."""
    begins, ends = _windows(stack.shape[-1])
    if not begins.size:
        return None
    values, floor = centred(stack, resolution, _BUMP_REACH)
    return _largest(values, floor, begins, ends)


@lru_cache(maxsize=256)
def _windows(count: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Windows of growing lengths at all places that leave a level on both sides."""
    begins, ends, length = [], [], float(SHORTEST_BUMP)
    while (size := round(length)) <= count - 2 * SHORTEST:
        begins.append(np.arange(SHORTEST, count - SHORTEST - size + 1))
        ends.append(begins[-1] + size)
        length *= _GROWTH
    empty = np.empty(0, dtype=np.int64)
    return np.concatenate([empty, *begins]), np.concatenate([empty, *ends])


def _largest(values: Array, floor: Array, begins: NDArray[np.int64], ends: NDArray[np.int64]) -> Largest:
    """Of all windows the one that stands out most; the noise is what the best window leaves over."""
    count = values.shape[-1]
    sums = np.concatenate([np.zeros_like(values[:, :1]), np.cumsum(values, axis=-1)], axis=-1)
    inside = sums[:, ends] - sums[:, begins]
    sizes = (ends - begins).astype(float)
    difference = inside / sizes - (sums[:, -1:] - inside) / (count - sizes)
    best = np.argmax(np.abs(difference) * np.sqrt(sizes * (count - sizes)), axis=-1)
    residuals, labels = _residuals(values, begins[best], ends[best])
    sigma, rho = noise_of_rows(residuals, labels, floor)
    different, which_size = np.unique(sizes, return_inverse=True)
    error = sigma * np.sqrt(variance_of_difference(rho, count - different, different))
    # Other changes in the same row swell what is left over, but not the differences from value to value.
    bound = noise_bound(values, floor) * np.sqrt(variance_of_difference(ASSUMED, count - different, different))
    error = np.minimum(error, bound)
    statistic = np.abs(difference) / error[:, which_size]
    which = np.argmax(statistic, axis=-1)
    return Largest(np.take_along_axis(statistic, which[:, None], -1)[:, 0], begins[which], ends[which])


def _residuals(values: Array, begin: NDArray[np.int64], end: NDArray[np.int64]) -> tuple[Array, NDArray[np.int64]]:
    """What is left of each row when the mean inside its window and the one outside are taken off."""
    places = np.arange(values.shape[-1])
    labels = (places >= begin[:, None]).astype(np.int64) + (places >= end[:, None])
    window = labels == 1
    size = window.sum(-1, keepdims=True)
    inside = (values * window).sum(-1, keepdims=True) / size
    outside = (values * ~window).sum(-1, keepdims=True) / (values.shape[-1] - size)
    return values - np.where(window, inside, outside), labels


def _settled(series: Array, resolution: float, found: dict[int, float]) -> tuple[ChangePoint, ...]:
    """Each change point where it fits best between its neighbours, now that these are known, and as clear as there."""
    places = sorted(found)
    edges = [0, *places, len(series)]
    p_values = []
    for number, place in enumerate(places, 1):
        before, after = edges[number - 1], edges[number + 1]
        best, p = _best_split(series[before:after], resolution)
        edges[number] = before + best
        p_values.append(min(p, found[place]))
    return tuple(map(ChangePoint, edges[1:-1], p_values))


def _best_split(stretch: Array, resolution: float) -> tuple[int, float]:
    best = largest_split(stretch[None, :], np.array([[resolution]]))
    p = p_value(SPLIT, len(stretch), float(best.value[0])) / (1 - BUMP_SHARE)
    return int(best.begin[0]), min(p, 1.0)


def noise_of(values: Sequence[float], changes: Sequence[ChangePoint]) -> Noise:
    """The noise inside the levels of a series of finite values, two or more."""
    series, resolution = on_scale(values)
    edges = [0, *(change.place for change in changes), len(series)]
    labels = np.repeat(np.arange(len(edges) - 1), np.diff(edges))
    offsets = np.concatenate([series[a:b] - np.median(series[a:b]) for a, b in pairwise(edges)])
    drawn, floor = centred(offsets[None, :], np.array([[resolution]]))
    means = np.array([drawn[0, a:b].mean() for a, b in pairwise(edges)])
    sigma, rho = noise_of_rows(drawn - means[labels], labels[None, :], floor)
    return Noise(float(sigma[0, 0] * resolution / floor[0, 0]), float(rho[0, 0]))
