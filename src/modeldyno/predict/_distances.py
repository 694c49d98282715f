"""How far devices, runtimes and other words are from each other, told by the cells that differ in nothing else."""

from __future__ import annotations

import numpy as np

from modeldyno.predict._grouped import codes_of, pairs_within, spreads
from modeldyno.predict._table import ATTRIBUTES, DEVICE, Bools, Floats, Ints, Table

_DOUBT = 6.0
"""So many observations of the usual distance are mixed into each."""
_UNKNOWN = 0.3
_FARTHEST = 9.0
TWIN_OFFSET, TWIN_SPREAD, TWIN_COUNT = 0.03, 0.02, 10
"""Two names whose times agree so well are one device, or one's numbers are copies."""


def distances(known: Table) -> tuple[Floats, ...]:
    """For each attribute a matrix of squared distances, about 1 in the middle."""
    return tuple(_distances(known, attribute) for attribute in range(len(ATTRIBUTES)))


def twins(known: Table, attribute: int = DEVICE) -> Ints:
    """For each word of the attribute the first that it cannot be told from."""
    left, right, offset, spread, count = _differences(known, attribute)
    words = int(known.attributes[:, attribute].max()) + 1
    same = (np.abs(offset) < TWIN_OFFSET) & (spread < TWIN_SPREAD) & (count >= TWIN_COUNT)
    return _first_of_each(words, left[same], right[same])


def _first_of_each(words: int, left: Ints, right: Ints) -> Ints:
    first = np.arange(words)
    for a, b in zip(left, right, strict=True):
        low, high = sorted((first[a], first[b]))
        first[first == high] = low
    return first


def _differences(known: Table, attribute: int) -> tuple[Ints, Ints, Floats, Floats, Ints]:
    """Of each pair of words: the middle difference, its spread and how often it was seen."""
    others = [known.attributes[:, k] for k in range(len(ATTRIBUTES)) if k != attribute]
    left, right = pairs_within(codes_of(known.item, *others))
    words = known.attributes[:, attribute]
    differ: Bools = words[left] != words[right]
    left, right = left[differ], right[differ]
    size = int(words.max()) + 1 if len(words) else 1
    pair, offset, spread, count = spreads(words[left] * size + words[right], known.value[left] - known.value[right])
    return pair // size, pair % size, offset, spread, count


def _distances(known: Table, attribute: int) -> Floats:
    left, right, _, spread, count = _differences(known, attribute)
    size = int(known.attributes[:, attribute].max()) + 1
    usual = float(np.median(spread)) if len(spread) else _UNKNOWN
    squared = np.full((size, size), np.nan)
    squared[left, right] = (count * spread**2 + _DOUBT * usual**2) / (count + _DOUBT)
    np.fill_diagonal(squared, 0.0)
    filled = _filled(squared, 2 * usual**2)
    positive = filled[filled > 0]
    return _as_metric(filled / (np.median(positive) if len(positive) else 1.0))


def _filled(squared: Floats, otherwise: float) -> Floats:
    """Words never seen together are as far from each other as over the nearest third."""
    through = np.where(np.isnan(squared), np.inf, squared)
    over = np.min(through[:, :, None] + through[None, :, :], axis=1)
    return np.where(np.isnan(squared), np.where(np.isfinite(over), np.minimum(over, _FARTHEST), otherwise), squared)


def _as_metric(squared: Floats) -> Floats:
    """The nearest squared distances of points in a space, without which a covariance would not be one."""
    size = len(squared)
    centring = np.eye(size) - 1 / size
    amounts, directions = np.linalg.eigh(-0.5 * centring @ squared @ centring)
    points = directions * np.sqrt(np.maximum(amounts, 0.0))
    return np.asarray(((points[:, None, :] - points[None, :, :]) ** 2).sum(-1))


def extended(squared: Floats, size: int) -> Floats:
    """With words that came later, each at the usual distance from all others."""
    grown = np.ones((size, size))
    grown[: len(squared), : len(squared)] = squared
    np.fill_diagonal(grown, 0.0)
    return grown
