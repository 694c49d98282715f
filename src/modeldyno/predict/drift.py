"""Whether what was learned still holds: results that came since, held against the intervals they should lie in."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from modeldyno.predict._corrected import COVERAGE
from modeldyno.predict.cells import Cell, newest
from modeldyno.predict.predictor import Predictor
from modeldyno.predict.stored import LATENCY, cells_of, kept_predictor
from modeldyno.store.store import Store

MOST = 400
"""New results that are looked at, at random."""
RARE = 0.01
"""What would come by chance less often than this is told as more than chance."""


@dataclass(frozen=True)
class Drift:
    """What the kept predictor says of results that it has not learned from."""

    new: int
    looked_at: int
    """Of these; those of which it says nothing are not among them."""
    outside: int
    """Results that lie outside of their 90 % interval."""
    beyond_chance: bool
    """Whether so many outside are rare where intervals hold and results have nothing to do with each other."""

    @property
    def expected(self) -> float:
        return round((1 - COVERAGE) * self.looked_at, 1)

    @property
    def sentence(self) -> str:
        chosen = f" ({self.looked_at} of {self.new} looked at)" if self.looked_at < self.new else ""
        verdict = "; what was learned no longer holds for them" if self.beyond_chance else ""
        return (
            f"{self.outside} of {self.looked_at} new results lie outside their 90 % interval "
            f"(expected {self.expected:.0f}){chosen}{verdict}."
        )

    def document(self) -> dict[str, Any]:
        return asdict(self) | {"expected": self.expected}


def drift(store: Store, metric: str = LATENCY) -> Drift | None:
    """None where no predictor is kept, or where nothing new has come."""
    predictor = kept_predictor(store, metric)
    return drift_of(predictor, cells_of(store, metric)) if predictor else None


def drift_of(predictor: Predictor, cells: Sequence[Cell]) -> Drift | None:
    """New is what it did not learn from, whenever that was measured: results may be imported years later."""
    learned = set(predictor.known)
    new = [cell for cell in newest(cells) if cell not in learned]
    order = np.random.default_rng(0).permutation(len(new))[:MOST]
    asked = [new[place] for place in order]
    held = [
        told.low <= cell.value <= told.high
        for cell, told in zip(asked, predictor.predict([cell.asked() for cell in asked]), strict=True)
        if told.low is not None and told.high is not None and cell.value is not None
    ]
    return _judged(len(new), held) if held else None


def _judged(new: int, held: Sequence[bool]) -> Drift:
    from scipy.stats import binom

    outside = len(held) - sum(held)
    chance = float(binom.sf(outside - 1, len(held), 1 - COVERAGE))
    return Drift(new, len(held), outside, chance < RARE)
