"""Medians by group, and pairs within groups, without a loop over the rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from modeldyno.predict._table import Floats, Ints

MAD = 1.4826
"""Times the median absolute deviation: the standard deviation of a normal distribution."""


def pairs_within(groups: Ints) -> tuple[Ints, Ints]:
    """All ordered pairs of different rows that have the same group."""
    order = np.argsort(groups, kind="stable")
    _, first, size = np.unique(groups[order], return_index=True, return_counts=True)
    sizes, starts = np.repeat(size, size), np.repeat(first, size)
    left = np.repeat(order, sizes)
    within = np.arange(len(left)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    right = order[np.repeat(starts, sizes) + within]
    keep = left != right
    return left[keep], right[keep]


def codes_of(*columns: Ints) -> Ints:
    """One code for equal rows of several columns."""
    if not len(columns[0]):
        return np.zeros(0, dtype=np.int64)
    found: Any = np.unique(np.column_stack(columns), axis=0, return_inverse=True)[1]
    return np.asarray(found).reshape(-1)


def medians(groups: Ints, values: Floats) -> tuple[Ints, Floats, Ints]:
    """Each group, the median of its values, and how many there are."""
    order = np.lexsort((values, groups))
    found, first, size = np.unique(groups[order], return_index=True, return_counts=True)
    inside = values[order]
    return found, 0.5 * (inside[first + (size - 1) // 2] + inside[first + size // 2]), size


def spreads(groups: Ints, values: Floats) -> tuple[Ints, Floats, Floats, Ints]:
    """Each group, its median, its robust standard deviation and its size."""
    found, middle, size = medians(groups, values)
    off = np.abs(values - middle[np.searchsorted(found, groups)])
    return found, middle, MAD * medians(groups, off)[1], size


def weighted_medians(groups: Ints, values: Floats, weights: Floats, count: int) -> Floats:
    """By group from 0 to count; nan for a group without values."""
    order = np.lexsort((values, groups))
    group, value, weight = groups[order], values[order], weights[order]
    total = np.bincount(group, weight, count)
    before = np.concatenate([[0.0], np.cumsum(total)[:-1]])
    upto = np.cumsum(weight) - before[group]
    beyond = np.flatnonzero(upto >= 0.5 * total[group] - 1e-12)
    found, first = np.unique(group[beyond], return_index=True)
    middle = np.full(count, np.nan)
    middle[found] = value[beyond[first]]
    return middle
