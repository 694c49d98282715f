"""The noise of a series: its size and how much a value takes after the one before it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

REACH = 4.0
"""Values further from the median than so many robust standard deviations are drawn in to there."""
RESOLUTION = 1e-3
"""Noise is never taken for smaller than this share of the level: counts and sizes often have none at all."""
_MAD_TO_SIGMA = 1.4826
_MOST = 0.95
_BIAS = 10.0
"""Residuals around fitted levels look less autocorrelated than the noise is, by a multiple of (1 + 4 rho) / n (Marriott
and Pope, Biometrika 41, 1954). This one is more than the bias: it finds the most steps at equal false alarms."""
_MOST_BIAS = 0.2
"""In a short series the multiple would leave nothing of the estimate."""


ASSUMED = np.array(0.5)
"""Autocorrelation that is reckoned with where several changes hide the true one."""


@dataclass(frozen=True)
class Noise:
    """What a value differs from its level by, on the scale of the analysis."""

    sigma: float
    rho: float
    """Autocorrelation at lag one, taken as that of an AR(1) process; never below zero, and rather too high."""

    def error_of_difference(self, before: int, after: int) -> float:
        """Standard error of the difference between the means of two adjacent stretches of the series."""
        return self.sigma * math.sqrt(float(variance_of_difference(np.array(self.rho), before, after)))


def centred(stack: Array, resolution: Array, reach: float = REACH) -> tuple[Array, Array]:
    """Each row about its median, in robust standard deviations, winsorised; and the resolution in the same unit."""
    offset = stack - np.median(stack, axis=-1, keepdims=True)
    scale = np.maximum(_MAD_TO_SIGMA * np.median(np.abs(offset), axis=-1, keepdims=True), resolution)
    return np.clip(offset / scale, -reach, reach), resolution / scale


def noise_of_rows(residuals: Array, labels: NDArray[np.int64], resolution: Array) -> tuple[Array, Array]:
    """Standard deviation and autocorrelation of each row from what is left inside its levels."""
    levels = labels[..., -1:] + 1
    count = residuals.shape[-1]
    squares = (residuals * residuals).sum(-1, keepdims=True)
    sigma = np.maximum(np.sqrt(squares / np.maximum(count - levels, 1)), resolution)
    inside = labels[..., 1:] == labels[..., :-1]
    products = (residuals[..., 1:] * residuals[..., :-1] * inside).sum(-1, keepdims=True)
    raw = products / np.maximum(squares, np.finfo(float).tiny)
    rho = raw + (1 + 4 * np.maximum(raw, 0)) * min(_BIAS / count, _MOST_BIAS)
    # What is smaller than the resolution is not looked at, so neither is what it takes after.
    return sigma, np.where(sigma > resolution, np.clip(rho, 0, _MOST), 0.0)


def noise_bound(values: Array, resolution: Array) -> Array:
    """Standard deviation of each row if its autocorrelation were `ASSUMED`: from the differences between neighbours
    (von Neumann, Annals of Mathematical Statistics 12, 1941), of which few steps touch only as few."""
    differences = np.clip(np.diff(values, axis=-1), -REACH, REACH)
    squares = (differences * differences).mean(-1, keepdims=True)
    return np.asarray(np.maximum(np.sqrt(squares / 2 / (1 - ASSUMED)), resolution))


def variance_of_difference(rho: Array, before: int | Array, after: int | Array) -> Array:
    """Variance of the difference of two adjacent means of AR(1) noise of unit variance."""
    common = rho * (1 - rho**before) * (1 - rho**after) / ((1 - rho) ** 2 * before * after)
    return _variance_of_mean(rho, before) + _variance_of_mean(rho, after) - 2 * common


def _variance_of_mean(rho: Array, count: int | Array) -> Array:
    return np.asarray(((1 + rho) / (1 - rho) - 2 * rho * (1 - rho**count) / (count * (1 - rho) ** 2)) / count)
