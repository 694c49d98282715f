"""A Gaussian process over cells that looks only at those near the question: exact there, and quick with any number."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from modeldyno.predict._covariance import NOISE, STARTS, Covariance, with_derivatives
from modeldyno.predict._distances import extended
from modeldyno.predict._expected import Expectation
from modeldyno.predict._table import DEVICE, Bools, Floats, Ints, Table

NEAREST = 220
LIKE_MODELS = 60
OF_DEVICE, BRIDGES = 40, 3
"""Cells of the device that is asked about, and for each the nearest elsewhere: they tell how devices differ."""
TOGETHER = 24
"""Questions about one model that are answered at once."""
_SUBSETS, _MODELS, _CELLS = 4, 44, 10
_ROUNDS = 70
_PULL = 2e-4
_BOUNDS = (-12.0, 4.0)


def learn(known: Table, residual: Floats, distances: tuple[Floats, ...], seed: int = 0) -> Covariance:
    """Parameters under which what is known is likely, judged on a few hundred cells at a time."""
    from scipy.linalg import cho_factor, cho_solve
    from scipy.optimize import minimize

    starts = np.asarray(list(STARTS.values()))
    subsets = list(_subsets(known, np.random.default_rng(seed)))
    cells = sum(map(len, subsets))

    def unlikely(parameters: Floats) -> tuple[float, Floats]:
        total, slope = 0.0, np.zeros_like(parameters)
        covariance = Covariance(parameters, distances)
        for rows in subsets:
            matrix, derivatives = with_derivatives(covariance, known.take(rows))
            matrix[np.diag_indices(len(rows))] += covariance.noise
            try:
                factor = cho_factor(matrix, lower=True)
            except np.linalg.LinAlgError:
                return 1e10, slope
            weights = cho_solve(factor, residual[rows])
            total += 0.5 * float(residual[rows] @ weights) + float(np.log(np.diag(factor[0])).sum())
            pull = 0.5 * (cho_solve(factor, np.eye(len(rows))) - np.outer(weights, weights))
            for place, derivative in derivatives:
                slope[place] += float((pull * derivative).sum())
            slope[NOISE] += float(np.trace(pull)) * float(np.exp(parameters[NOISE]))
        away = parameters - starts
        return total / cells + _PULL * float(away @ away), slope / cells + 2 * _PULL * away

    found = minimize(
        unlikely, starts, jac=True, method="L-BFGS-B", bounds=[_BOUNDS] * len(starts), options={"maxiter": _ROUNDS}
    )
    return Covariance(np.asarray(found.x), distances)


def _subsets(known: Table, random: np.random.Generator) -> Iterator[Ints]:
    """Cells of a few models and of others with like names."""
    models = np.unique(known.model)
    for _ in range(_SUBSETS):
        seeds = random.choice(models, min(len(models), _MODELS // 4), replace=False)
        like = [models[np.argsort(-known.likeness[seed][models])[1:12]] for seed in seeds]
        chosen = np.unique(np.concatenate([seeds, *(random.permutation(some)[:3] for some in like)]))
        rows = [random.permutation(np.flatnonzero(known.model == model))[:_CELLS] for model in chosen]
        yield np.concatenate(rows)


@dataclass
class Process:
    """What is known, ready to be asked."""

    covariance: Covariance
    expectation: Expectation
    known: Table
    _around: dict[int, Ints] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        self._residual = self.known.value - self.expectation.of(self.known)

    def ask(self, questions: Table) -> tuple[Floats, Floats]:
        """Logarithms of the values, and their standard deviations."""
        covariance = self._covering(questions)
        middle, spread = self.expectation.of(questions), np.zeros(len(questions))
        for rows in _together(questions.model):
            told, deviation = self._answer(covariance, questions.take(rows))
            middle[rows] += told
            spread[rows] = deviation
        return middle, spread

    def _covering(self, questions: Table) -> Covariance:
        """With distances for the words that only the questions have."""
        most = np.maximum(self.known.attributes.max(axis=0), questions.attributes.max(axis=0)) + 1
        grown = tuple(extended(d, max(len(d), int(n))) for d, n in zip(self.covariance.distances, most, strict=True))
        return Covariance(self.covariance.parameters, grown)

    def _answer(self, covariance: Covariance, asked: Table) -> tuple[Floats, Floats]:
        from scipy.linalg import cho_factor, cho_solve, solve_triangular

        rows = self._relevant(covariance, asked)
        near = self.known.take(rows)
        matrix = covariance.between(near, near)
        matrix[np.diag_indices(len(rows))] += covariance.noise
        factor = cho_factor(matrix, lower=True)
        across = covariance.between(asked, near)
        told = across @ cho_solve(factor, self._residual[rows])
        explained = (solve_triangular(factor[0], across.T, lower=True) ** 2).sum(axis=0)
        return told, np.sqrt(np.maximum(covariance.of_each(asked) + covariance.noise - explained, 1e-8))

    def _relevant(self, covariance: Covariance, asked: Table) -> Ints:
        candidates = self._candidates(asked)
        told = covariance.between(asked, self.known.take(candidates), leave_out=("line", "column")).max(axis=0)
        nearest = candidates[np.argsort(-told)[:NEAREST]]
        around = [self._of_device(covariance, int(device)) for device in np.unique(asked.attributes[:, DEVICE])]
        return np.unique(np.concatenate([nearest, *around]))

    def _candidates(self, asked: Table) -> Ints:
        """All cells of the model and of those with like names or like work."""
        models = np.unique(self.known.model)
        like = self.known.likeness if len(self.known.likeness) >= len(asked.likeness) else asked.likeness
        named = models[np.argsort(-like[asked.model[0]][models])[:LIKE_MODELS]]
        sized = np.argsort(((self.known.work - asked.work[0]) ** 2).sum(axis=1))[:300]
        chosen: Bools = np.isin(self.known.model, named)
        chosen[sized] = True
        return np.flatnonzero(chosen)

    def _of_device(self, covariance: Covariance, device: int) -> Ints:
        if device not in self._around:
            rows = np.flatnonzero(self.known.attributes[:, DEVICE] == device)
            rows = np.random.default_rng(device).permutation(rows)[:OF_DEVICE]
            self._around[device] = np.concatenate(
                [rows, *(self._bridges(covariance, int(row)) for row in rows)]
            ).astype(int)
        return self._around[device]

    def _bridges(self, covariance: Covariance, row: int) -> Ints:
        same = self.known.model == self.known.model[row]
        elsewhere = np.flatnonzero(same & (self.known.attributes[:, DEVICE] != self.known.attributes[row, DEVICE]))
        told = covariance.between(self.known.take([row]), self.known.take(elsewhere), leave_out=("line", "column"))[0]
        return elsewhere[np.argsort(-told)[:BRIDGES]]


def _together(models: Ints) -> Iterator[Ints]:
    order = np.argsort(models, kind="stable")
    for rows in np.split(order, np.flatnonzero(np.diff(models[order])) + 1):
        yield from (rows[k : k + TOGETHER] for k in range(0, len(rows), TOGETHER))
