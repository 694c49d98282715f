"""A boosted correction of what the experts say, and an interval that holds: both learned from examinations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from modeldyno.predict._table import Floats, Ints
from modeldyno.predict.prediction import Distance

COVERAGE = 0.90
_FOLDS = 4
_CLIP = 1.5
_TREES = {
    "max_iter": 160,
    "learning_rate": 0.05,
    "max_leaf_nodes": 10,
    "min_samples_leaf": 20,
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

    features: Floats
    middle: Floats
    doubt: Floats
    off: Floats
    """True logarithm less the expected one."""
    group: Ints
    """Cells that tell about each other: of one model, or of the device that counted as new."""
    distance: tuple[Distance, ...]


@dataclass(frozen=True)
class Correction:
    """Learned from examinations."""

    towards: Any
    shares: dict[Distance, float]
    """How much of it helps, by distance."""
    how_far: Any
    factors: dict[Distance, float]
    errors: dict[Distance, Floats]
    """Logarithmic errors of the examinations, by distance."""

    def of(self, features: Floats, doubt: Floats, distance: Sequence[Distance]) -> tuple[Floats, Floats]:
        """What to add to the logarithm, and half of the width of its interval."""
        if self.towards is None:
            return np.zeros(len(doubt)), _USUAL_FACTOR * doubt
        shares = np.asarray([self.shares[one] for one in distance])
        add = shares * self.towards.predict(features)
        usual = _expected_error(self.how_far, features)
        factors = np.asarray([self.factors.get(one, max(self.factors.values())) for one in distance])
        return add, factors * usual


def correct(examined: Examined) -> Correction:
    usable = np.isfinite(examined.middle) & np.isfinite(examined.off)
    if usable.sum() < _FEWEST:
        return Correction(None, {}, None, {}, {})
    features, off = examined.features[usable], np.clip(examined.off[usable], -_CLIP, _CLIP)
    distance = np.asarray([one.value for one in examined.distance])[usable]
    folds = _folds(examined.group[usable])
    add = _cross_fitted(features, off, folds, _booster)
    shares = {one: _best_share(off[distance == one.value], add[distance == one.value]) for one in Distance}
    left = off - np.asarray([shares[Distance(one)] for one in distance]) * add
    usual = np.exp(_cross_fitted(features, np.log(np.abs(left) + _LEAST), folds, _smooth))
    factors = {}
    for one in Distance:
        of_one = distance == one.value
        if of_one.sum() >= _ENOUGH:
            factors[one] = _quantile(np.abs(left[of_one]) / usual[of_one])
    if not factors:
        factors[Distance.DEVICE] = _quantile(np.abs(left) / usual)
    how_far = _smooth().fit(features, np.log(np.abs(left) + _LEAST))
    errors = {one: left[distance == one.value] for one in Distance if (distance == one.value).any()}
    return Correction(_booster().fit(features, off), shares, how_far, factors, errors)


def _best_share(off: Floats, add: Floats) -> float:
    """None of it where too little was asked to tell."""
    if len(off) < _ENOUGH:
        return 0.0
    return min(_SHARES, key=lambda share: float(np.abs(off - share * add).mean()))


def _expected_error(how_far: Any, features: Floats) -> Floats:
    return np.asarray(np.exp(how_far.predict(features)))


def _quantile(scores: Floats) -> float:
    """The conformal one: with a correction for few scores."""
    rank = min(1.0, COVERAGE * (1 + 1 / len(scores)))
    return float(np.quantile(scores, rank))


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
            told[inside] = booster().fit(features[~inside], wanted[~inside]).predict(features[inside])
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
