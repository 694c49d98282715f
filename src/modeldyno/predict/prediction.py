"""The answer: a number with an interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

WIDEST = 2.0
"""An interval whose ends are further apart than from half to twice the value is no answer."""


class Distance(StrEnum):
    """How far the question is from what was measured."""

    MEASURED = "measured"
    """The very cell is known."""
    WAY = "seen there in another way"
    """Model and device are known together, at another batch size or in another runtime, precision or version."""
    PAIR = "pair unseen"
    """Model and device are both known, not together."""
    ONE = "model seen on one device"
    MODEL = "model unseen"
    FAMILY = "family unseen"
    DEVICE = "device unseen"
    """Not known at all, or from a few measurements only."""


@dataclass(frozen=True, slots=True)
class Prediction:
    """What a cell's value will be, with a 90 % interval."""

    value: float | None
    low: float | None
    high: float | None
    distance: Distance
    evidence: str
    """What it rests on, in a sentence."""
    why_not: str | None = None
    """Why there is no answer that one could rely on; value and interval then say what little is known."""

    @property
    def abstained(self) -> bool:
        return self.why_not is not None
