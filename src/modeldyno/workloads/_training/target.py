"""What training is to reach on held-out data, as users write it: `loss<2.0`, `accuracy>0.9`."""

from __future__ import annotations

import math
from dataclasses import dataclass

LOSS, ACCURACY = "loss", "accuracy"


@dataclass(frozen=True)
class Grade:
    """How well a model does on held-out data."""

    loss: float
    accuracy: float | None
    """Share of right answers; None where the task has none."""


@dataclass(frozen=True)
class Target:
    """A bound on one of the grades."""

    of: str
    bound: float

    def __str__(self) -> str:
        return f"{self.of}{'<' if self.of == LOSS else '>'}{self.bound:g}"

    def reached(self, grade: Grade) -> bool:
        if self.of == LOSS:
            return grade.loss < self.bound
        return grade.accuracy is not None and grade.accuracy > self.bound

    def said(self, grade: Grade) -> str:
        """The grade that the target is about, for people."""
        value = grade.loss if self.of == LOSS else grade.accuracy
        return f"{self.of} not known" if value is None else f"{self.of} {value:.4g}"


def read_target(text: object) -> Target:
    """Raises ValueError for anything else than `loss<NUMBER` or `accuracy>NUMBER`."""
    for of, sign in ((LOSS, "<"), (ACCURACY, ">")):
        name, found, bound = str(text).replace(" ", "").partition(sign)
        if name == of and found and _is_number(bound):
            return Target(of, float(bound))
    raise ValueError("should be loss<NUMBER or accuracy>NUMBER")


def _is_number(text: str) -> bool:
    try:
        return math.isfinite(float(text))
    except ValueError:
        return False
