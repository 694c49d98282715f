"""A boosted correction of what the experts say, and an interval that holds: both learned from examinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from modeldyno.predict._experts import Told
from modeldyno.predict._neighbours import Neighbours
from modeldyno.predict._table import Bools, Floats, Ints, Table
from modeldyno.predict.prediction import Distance

COVERAGE = 0.90
_FOLDS = 4
_CLIP = 1.5
_TREES = {
    "max_iter": 220,
    "learning_rate": 0.06,
    "max_leaf_nodes": 16,
    "max_features": 0.5,
    "min_samples_leaf": 30,
    "l2_regularization": 2.0,
}
_FEWEST = 60
"""Examined cells below which there is no correction."""
_ENOUGH = 40
"""Examined cells of one distance that it takes to have an interval of its own."""
_SHARES = (0.0, 0.5, 1.0)
_USUAL_FACTOR = 2.5
_LEAST = 0.01


@dataclass(frozen=True)
class Examined:
    """What the experts said in examinations, and by how far the truth was off."""

    asked: Table
    features: Floats
    off: Floats
    """True logarithm less the expected one; nan where nothing was expected."""
    group: Ints
    """Cells that tell about each other: of one model, or of the device that counted as new."""
    distance: tuple[Distance, ...]

    def take(self, rows: Bools) -> Examined:
        distance = tuple(one for one, wanted in zip(self.distance, rows, strict=True) if wanted)
        return Examined(self.asked.take(rows), self.features[rows], self.off[rows], self.group[rows], distance)


@dataclass(frozen=True)
class _Learned:
    """From examinations of one kind."""

    towards: Any
    shares: dict[Distance, float]
    """How much of it helps, by distance."""
    how_far: Any
    factors: dict[Distance, float]
    """Times the expected error: half of the interval."""
    errors: dict[Distance, Floats]

    def of(self, features: Floats, distance: Sequence[Distance]) -> tuple[Floats, Floats]:
        shares = np.asarray([self.shares.get(one, 0.0) for one in distance])
        factors = np.asarray([self.factors.get(one, max(self.factors.values())) for one in distance])
        return shares * self.towards.predict(features), factors * np.exp(self.how_far.predict(features))


@dataclass(frozen=True)
class Correction:
    """Learned apart for devices that are known and for new ones."""

    neighbours: Neighbours
    learned: dict[bool, _Learned]
    """By whether the device is new."""

    @property
    def errors(self) -> dict[Distance, Floats]:
        """Logarithmic errors of the examinations, by distance."""
        return {distance: errors for one in self.learned.values() for distance, errors in one.errors.items()}

    def examined(self, distance: Distance) -> bool:
        """Whether intervals rest on examinations."""
        return (distance is Distance.DEVICE) in self.learned

    def of(self, asked: Table, told: Told) -> tuple[Floats, Floats]:
        """What to add to the logarithm, and half of the width of its interval."""
        add, half = np.zeros(len(asked)), _USUAL_FACTOR * told.doubt
        features = np.column_stack([told.features, self.neighbours.of(asked, told.distance)])
        new = _is(Distance.DEVICE, told.distance)
        for kind, learned in self.learned.items():
            rows = np.flatnonzero(new == kind)
            if len(rows):
                add[rows], half[rows] = learned.of(features[rows], [told.distance[row] for row in rows])
        return add, half


def correct(examined: Examined) -> Correction:
    """Nothing is learned from few examined cells."""
    examined = examined.take(np.isfinite(examined.off))
    neighbours = Neighbours(examined.asked, examined.off, examined.distance)
    told = np.column_stack([examined.features, neighbours.of(examined.asked, examined.distance)])
    examined, new = replace(examined, features=told), _is(Distance.DEVICE, examined.distance)
    kinds = [kind for kind in (False, True) if (new == kind).sum() >= _FEWEST]
    return Correction(neighbours, {kind: _learned(examined.take(new == kind)) for kind in kinds})


def _is(which: Distance, distance: Sequence[Distance]) -> Bools:
    return np.asarray([one is which for one in distance], dtype=bool)


def _learned(examined: Examined) -> _Learned:
    features, folds = examined.features, _foldings(examined)
    off = np.clip(examined.off, -_CLIP, _CLIP)
    rows = {one: np.flatnonzero(_is(one, examined.distance)) for one in set(examined.distance)}
    add = _honest(features, off, folds, _booster)
    shares = {one: _best_share(off[some], add[some]) for one, some in rows.items()}
    left = off - np.asarray([shares[one] for one in examined.distance]) * add
    size = np.log(np.abs(left) + _LEAST)
    scores = np.abs(left) / np.exp(_honest(features, size, folds, _smooth))
    factors = {one: _quantile(scores[some]) for one, some in rows.items() if len(some) >= _ENOUGH}
    return _Learned(
        _booster().fit(features, off),
        shares,
        _smooth().fit(features, size),
        factors or dict.fromkeys(rows, _quantile(scores)),
        {one: left[some] for one, some in rows.items()},
    )


def _best_share(off: Floats, add: Floats) -> float:
    """None of it where too little was asked to tell."""
    if len(off) < _ENOUGH:
        return 0.0
    return min(_SHARES, key=lambda share: float(np.abs(off - share * add).mean()))


def _quantile(scores: Floats) -> float:
    """The conformal one: with a correction for few scores."""
    return float(np.quantile(scores, min(1.0, COVERAGE * (1 + 1 / len(scores)))))


def _foldings(examined: Examined) -> list[tuple[Ints, Ints]]:
    """Ways to split into folds, and the rows that each is for: an unseen family must not be learned from its own."""
    strange = _is(Distance.FAMILY, examined.distance)
    both = ((examined.group, ~strange), (examined.asked.family, strange))
    return [(_folds(groups), np.flatnonzero(rows)) for groups, rows in both if rows.any()]


def _honest(features: Floats, wanted: Floats, foldings: list[tuple[Ints, Ints]], booster: Any) -> Floats:
    """What is told of each row by what was learned without it and its like."""
    told = np.zeros(len(wanted))
    for folds, rows in foldings:
        told[rows] = _cross_fitted(features, wanted, folds, booster)[rows]
    return told


def _folds(groups: Ints) -> Ints:
    """Cells of one group in one fold."""
    found = np.unique(groups)
    fold = np.random.default_rng(0).permutation(len(found)) % _FOLDS
    return np.asarray(fold[np.searchsorted(found, groups)])


def _cross_fitted(features: Floats, wanted: Floats, folds: Ints, booster: Any) -> Floats:
    told = np.zeros(len(wanted))
    for fold in range(_FOLDS):
        inside = folds == fold
        if inside.any() and not inside.all():
            fitted = booster().fit(features[~inside], wanted[~inside])
            told[inside] = fitted.predict(features[inside])
    return told


class _Boosted:
    """Trees over the features that say something: a column of nothing but gaps is none."""

    def __init__(self, **settings: Any) -> None:
        self._settings = _TREES | settings

    def fit(self, features: Floats, wanted: Floats) -> _Boosted:
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._columns = np.flatnonzero(np.isfinite(features).any(axis=0))
        trees = HistGradientBoostingRegressor(random_state=0, **self._settings)
        self._trees = trees.fit(features[:, self._columns], wanted)
        return self

    def predict(self, features: Floats) -> Floats:
        return np.asarray(self._trees.predict(features[:, self._columns]))


def _booster() -> _Boosted:
    return _Boosted(loss="absolute_error")


def _smooth() -> _Boosted:
    return _Boosted(max_iter=80)
