"""How often noise alone makes a series look changed: quantiles of the two statistics of `changes`, by simulation.

`python benchmarks/detection.py --calibrate` makes the tables again. Simulated are series of normal AR(1) noise without
any change; each has an autocorrelation of its own, drawn evenly from 0 to `likely_autocorrelation(count)`."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

SHORTEST = 3
"""Fewer values are no level."""
SPLIT, BUMP = "split", "bump"
SHARES = (0.5, 0.1, 0.03, 0.01, 0.003, 0.001)
"""Of the series without a change, those in which the statistic is larger than the column says."""
_SPLIT = {
    6: (0.802, 2.355, 3.612, 5.095, 7.092, 9.623),
    7: (1.100, 2.703, 3.949, 5.252, 6.998, 9.387),
    8: (1.263, 2.817, 3.954, 5.082, 6.525, 8.094),
    10: (1.431, 2.863, 3.872, 4.818, 5.944, 7.169),
    12: (1.508, 2.841, 3.725, 4.549, 5.491, 6.338),
    15: (1.564, 2.786, 3.592, 4.319, 5.049, 5.768),
    20: (1.597, 2.716, 3.432, 4.048, 4.731, 5.314),
    30: (1.615, 2.621, 3.245, 3.797, 4.370, 4.889),
    40: (1.617, 2.548, 3.123, 3.613, 4.141, 4.586),
    60: (1.667, 2.547, 3.072, 3.525, 3.999, 4.420),
    100: (1.794, 2.633, 3.127, 3.533, 3.957, 4.331),
    150: (1.891, 2.703, 3.172, 3.557, 3.963, 4.306),
    250: (1.993, 2.785, 3.232, 3.601, 3.963, 4.279),
    500: (2.104, 2.890, 3.322, 3.666, 3.982, 4.253),
    1000: (2.202, 2.975, 3.410, 3.751, 4.093, 4.392),
    2000: (2.266, 3.021, 3.436, 3.764, 4.112, 4.350),
}
_BUMP = {
    12: (0.922, 2.080, 2.897, 3.600, 4.352, 5.081),
    15: (1.434, 2.610, 3.380, 4.028, 4.753, 5.422),
    20: (1.783, 2.916, 3.607, 4.189, 4.814, 5.378),
    30: (2.039, 3.034, 3.642, 4.134, 4.668, 5.127),
    40: (2.161, 3.060, 3.590, 4.033, 4.511, 4.928),
    60: (2.329, 3.135, 3.621, 4.029, 4.468, 4.847),
    100: (2.571, 3.275, 3.714, 4.090, 4.491, 4.859),
    150: (2.746, 3.388, 3.779, 4.121, 4.471, 4.803),
    250: (2.940, 3.526, 3.884, 4.193, 4.500, 4.776),
    500: (3.175, 3.708, 4.030, 4.306, 4.598, 4.867),
    1000: (3.381, 3.876, 4.168, 4.430, 4.687, 4.874),
    2000: (3.563, 4.044, 4.324, 4.562, 4.823, 5.041),
}
_TABLES = {SPLIT: _SPLIT, BUMP: _BUMP}
_FROM = SHARES.index(0.01)
"""Beyond the table both logarithms go on along the line between this column and the last."""


def likely_autocorrelation(count: int) -> float:
    """Up to where autocorrelation is reckoned with: a short series cannot tell much of it from a step."""
    return min(max(count / 200, 0.25), 0.5)


def p_value(statistic: str, count: int, value: float) -> float:
    """The share of series of this length without any change in which the statistic is at least this large."""
    columns = _columns(statistic, count)
    if value <= math.exp(columns[0]):
        return 1.0
    place = math.log(value)
    if place > columns[-1]:
        slope = math.log(SHARES[_FROM] / SHARES[-1]) / (columns[-1] - columns[_FROM])
        return math.exp(math.log(SHARES[-1]) - slope * (place - columns[-1]))
    return float(np.exp(np.interp(place, columns, np.log(SHARES))))


def threshold(statistic: str, count: int, share: float) -> float:
    """How large the statistic must be for this p-value, one of the table's range."""
    return float(np.exp(np.interp(-math.log(share), -np.log(SHARES), _columns(statistic, count))))


@lru_cache(maxsize=4096)
def _columns(statistic: str, count: int) -> tuple[float, ...]:
    """Logarithms of the quantiles for series of this length, read between the rows of the table."""
    table = _TABLES[statistic]
    lengths = np.log(list(table))
    rows = np.log(list(table.values()))
    return tuple(float(np.interp(math.log(count), lengths, column)) for column in rows.T)
