"""How much two cells tell about each other: a sum of reasons, each a likeness of models times a likeness of columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from modeldyno.predict._table import ATTRIBUTES, NUMBERS, WORK, Floats, Table

TERMS = ("line", "name", "near", "same", "column", "work")
"""A line over the counted work; models of like names, also of like size; the model itself; the column; like work."""
_STARTS = {"line": -1.0, "name": -3.0, "near": -3.0, "same": -4.0, "column": -3.0, "work": -3.0}
_ATTRIBUTES, _NUMBERS, _WORK = len(ATTRIBUTES), NUMBERS, WORK
_LENGTHS = ("near", "same", "work")
"""Terms in which the distance of the work counts."""


class Parameter(NamedTuple):
    """One number that is learned, as a logarithm."""

    kind: str
    term: str = ""
    which: int = 0


def _parameters() -> dict[Parameter, float]:
    starts: dict[Parameter, float] = {}
    for term in TERMS:
        starts[Parameter("scale", term)] = _STARTS[term]
        starts |= {Parameter("attribute", term, k): -2.0 for k in range(_ATTRIBUTES)}
        starts |= {Parameter("number", term, k): -1.0 for k in range(_NUMBERS)}
    starts |= {Parameter("slope", "line", k): 0.0 for k in range(_WORK)}
    starts |= {
        Parameter("length", term, k): (0.0 if term == "work" else -1.0) for term in _LENGTHS for k in range(_WORK)
    }
    return starts | {Parameter("spelling"): 1.2, Parameter("noise"): -7.0}


STARTS = _parameters()
PLACES = {parameter: place for place, parameter in enumerate(STARTS)}
NOISE = PLACES[Parameter("noise")]


@dataclass(frozen=True)
class Covariance:
    """The covariance of cells for one choice of parameters."""

    parameters: Floats
    distances: tuple[Floats, ...]
    """Between the words of each attribute."""

    @property
    def noise(self) -> float:
        return float(np.exp(self.parameters[NOISE]) + 1e-6)

    def between(self, a: Table, b: Table, leave_out: tuple[str, ...] = ()) -> Floats:
        parts = _Parts(self, a, b)
        return sum((parts.term(term) for term in TERMS if term not in leave_out), np.zeros((len(a), len(b))))

    def of_each(self, a: Table) -> Floats:
        """The variance of each cell by itself."""
        line = 1 + (a.work**2) @ self.amounts("slope", "line", _WORK)
        scales = {term: self.amounts("scale", term, 1)[0] for term in TERMS}
        return np.asarray(scales["line"] * line + sum(scales[term] for term in TERMS if term != "line"))

    def amounts(self, kind: str, term: str, count: int) -> Floats:
        first = PLACES[Parameter(kind, term)]
        return np.exp(self.parameters[first : first + count])


class _Parts:
    """The pieces of a covariance matrix, for it and its derivatives."""

    def __init__(self, covariance: Covariance, a: Table, b: Table) -> None:
        self._covariance, self._a, self._b = covariance, a, b
        self.apart = [d[np.ix_(a.attributes[:, k], b.attributes[:, k])] for k, d in enumerate(covariance.distances)]
        self.numbers = [np.subtract.outer(a.numbers[:, k], b.numbers[:, k]) ** 2 for k in range(_NUMBERS)]
        self.work = [np.subtract.outer(a.work[:, k], b.work[:, k]) ** 2 for k in range(_WORK)]
        self.likeness = a.likeness[np.ix_(a.model, b.model)]
        self.spelling = float(np.exp(covariance.parameters[PLACES[Parameter("spelling")]]))
        self.line = 1 + (a.work * covariance.amounts("slope", "line", _WORK)) @ b.work.T
        self._terms: dict[str, Floats] = {}

    def term(self, term: str) -> Floats:
        if term not in self._terms:
            self._terms[term] = self._columns(term) * self._models(term)
        return self._terms[term]

    def _columns(self, term: str) -> Floats:
        exponent = np.full(self.likeness.shape, self._covariance.parameters[PLACES[Parameter("scale", term)]])
        for weight, distance in zip(self._covariance.amounts("attribute", term, _ATTRIBUTES), self.apart, strict=True):
            exponent -= weight * distance
        for weight, distance in zip(self._covariance.amounts("number", term, _NUMBERS), self.numbers, strict=True):
            exponent -= weight * distance
        if term in _LENGTHS:
            for weight, distance in zip(self._covariance.amounts("length", term, _WORK), self.work, strict=True):
                exponent -= 0.5 * weight * distance
        return np.asarray(np.exp(exponent, out=exponent))

    def _models(self, term: str) -> Floats | float:
        if term == "line":
            return self.line
        if term in ("name", "near"):
            return np.exp(self.spelling * self.likeness)
        return np.equal.outer(self._a.model, self._b.model) if term == "same" else 1.0

    def derivatives(self) -> Iterator[tuple[int, Floats]]:
        """By each parameter but the noise."""
        for parameter, place in PLACES.items():
            if parameter.kind != "noise":
                yield place, self._derivative(parameter, float(np.exp(self._covariance.parameters[place])))

    def _derivative(self, of: Parameter, amount: float) -> Floats:
        if of.kind == "spelling":
            return amount * self.likeness * (self.term("name") + self.term("near"))
        whole = self.term(of.term)
        if of.kind == "scale":
            return whole
        if of.kind == "slope":
            outer = np.outer(self._a.work[:, of.which], self._b.work[:, of.which])
            return amount * outer * self._columns("line")
        distance = {"attribute": self.apart, "number": self.numbers, "length": self.work}[of.kind][of.which]
        return (-0.5 if of.kind == "length" else -1.0) * amount * distance * whole


def with_derivatives(covariance: Covariance, a: Table) -> tuple[Floats, Iterator[tuple[int, Floats]]]:
    parts = _Parts(covariance, a, a)
    return sum((parts.term(term) for term in TERMS), np.zeros((len(a), len(a)))), parts.derivatives()
