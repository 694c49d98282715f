"""What one would expect without looking closer: a roofline, or where no work is counted a sum of effects."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modeldyno.predict._table import ATTRIBUTES, DEVICE, Floats, Ints, Table

_ROUNDS = 4
_SMALLEST = 0.1
"""Residuals below this count alike: beyond it they weigh the less the larger they are."""
Block = tuple[Ints, float]
"""Codes of an effect, and how strongly it is pulled to nothing."""


@dataclass(frozen=True)
class Expectation:
    """Fitted on what is known; tells of any cell."""

    middle: float
    effects: tuple[Floats, ...]
    slopes: Floats
    described: bool

    def of(self, table: Table) -> Floats:
        told = np.full(len(table), self.middle)
        for (codes, _), effect in zip(_blocks(table, self.described), self.effects, strict=True):
            told += _looked_up(effect, codes)
        if self.described:
            told += _together(table) + _slopes_of(table) @ self.slopes
        return told


def expect(known: Table, described: bool) -> Expectation:
    """Least squares with little weight for what is far off."""
    from scipy.sparse import csr_matrix, diags, hstack, vstack
    from scipy.sparse.linalg import lsqr

    blocks = _blocks(known, described)
    rows = np.arange(len(known))
    sizes = [int(codes.max()) + 1 for codes, _ in blocks]
    hot = [
        csr_matrix((np.ones(len(rows)), (rows, codes)), shape=(len(rows), size))
        for (codes, _), size in zip(blocks, sizes, strict=True)
    ]
    slopes = _slopes_of(known) if described else np.zeros((len(known), 0))
    pull = np.concatenate(
        [np.full(size, np.sqrt(p)) for (_, p), size in zip(blocks, sizes, strict=True)]
        + [np.full(slopes.shape[1], 1.0)]
    )
    design: Any = vstack([hstack([*hot, csr_matrix(slopes)]), diags(pull)]).tocsr()
    wanted = known.value - (_together(known) if described else 0.0)
    middle = float(np.median(wanted))
    weights, found = np.ones(len(known)), np.zeros(design.shape[1])
    for _ in range(_ROUNDS):
        scale = np.concatenate([np.sqrt(weights), np.ones(len(pull))])
        goal = np.concatenate([wanted - middle, np.zeros(len(pull))])
        found = lsqr(diags(scale) @ design, scale * goal, iter_lim=200)[0]
        off = np.abs(wanted - middle - design[: len(known)] @ found)
        weights = _SMALLEST / np.maximum(off, _SMALLEST)
    ends = np.cumsum(sizes)
    effects = tuple(np.split(found[: ends[-1]], ends[:-1]))
    return Expectation(middle, effects, found[ends[-1] :], described)


def _blocks(table: Table, described: bool) -> Sequence[Block]:
    if described:
        return [(table.attributes[:, k], 1.0) for k in range(len(ATTRIBUTES)) if k != DEVICE]
    single = [(table.attributes[:, k], 0.3) for k in range(len(ATTRIBUTES))]
    return [(table.item, 0.3), *single, (table.column, 1.0)]


def _together(table: Table) -> Floats:
    return np.asarray(np.log(np.exp(table.roofline).sum(axis=1)))


def _slopes_of(table: Table) -> Floats:
    """How far each bound is from all of them together: which of them rules."""
    return np.maximum(table.roofline - _together(table)[:, None], -6.0)


def _looked_up(effect: Floats, codes: Ints) -> Floats:
    """Nothing for what came after the fit."""
    inside = codes < len(effect)
    return np.where(inside, effect[np.where(inside, codes, 0)], 0.0)
