"""Which platform to use for models of an architecture or family and size, from what was measured and nothing else."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from modeldyno.analysis.best import Rivals, is_of_hardware, is_trusted, rivals
from modeldyno.analysis.ratio import ratio_of_records
from modeldyno.core.types import ModelInfo, Record
from modeldyno.models import size_class


class Sureness(StrEnum):
    """How far a recommendation can be relied on; the weakest that applies."""

    CLEAR = "clear"
    """Fastest for all models, and the intervals say so."""
    WITHIN_ERROR = "within error"
    """Fastest for all models, but for some the next cannot be told from it."""
    CONTESTED = "contested"
    """Another platform is fastest for some of the models."""
    UNRIVALLED = "no rival measured"
    """No model was measured on a second platform."""


@dataclass(frozen=True)
class Recommendation:
    """What to use for one kind of models and size."""

    kind: str
    """An architecture, or a family."""
    size: str
    wins: tuple[tuple[str, int], ...]
    """Platforms by the number of models for which they are best, most first."""
    models: tuple[str, ...]
    """Those that it rests on."""
    close: tuple[str, ...]
    """Those of them for which the next platform cannot be told from the best."""
    doubtful: int
    """Those of them measured under conditions that a passport does not call valid."""
    sureness: Sureness

    @property
    def platform(self) -> str | None:
        """None where two are best for equally many models, or several were measured but never for the same model."""
        first, *others = self.wins
        even = any(count == first[1] for _, count in others)
        return None if even or (others and self.sureness is Sureness.UNRIVALLED) else first[0]


def recommend(
    records: Iterable[Record],
    name: str,
    workload: str = "inference",
    by: Literal["architecture", "family"] = "architecture",
) -> tuple[Recommendation, ...]:
    """For each architecture (or family) and size of which something was measured on real hardware: the platform that is
    best for most of the models. A model that was measured on one platform only has no say where others had a choice."""
    cells: dict[tuple[str, str], list[Rivals]] = {}
    for one in rivals(filter(is_of_hardware, records), name):
        known = next((record.model for record in one.records if record.model), None)
        kind = _kind(known, by)
        if kind and one.workload == workload:
            cells.setdefault(kind, []).append(one)
    return tuple(_recommendation(*kind, found, name) for kind, found in sorted(cells.items()))


def _kind(model: ModelInfo | None, by: Literal["architecture", "family"]) -> tuple[str, str] | None:
    """Architecture or family and size, where both are known."""
    kind: str | None = getattr(model, by, None)
    if model is None or kind is None:
        return None
    size = model.size or (size_class(model.parameters) if model.parameters else None)
    return (kind, size) if size else None


def _recommendation(kind: str, size: str, found: Sequence[Rivals], name: str) -> Recommendation:
    chosen = [one for one in found if len(one.records) > 1] or list(found)
    wins = Counter(one.records[0].case.platform for one in chosen)
    ordered = tuple(sorted(wins.items(), key=lambda item: (-item[1], item[0])))
    close = tuple(one.model for one in chosen if _is_close(one, name))
    return Recommendation(
        kind=kind,
        size=size,
        wins=ordered,
        models=tuple(one.model for one in chosen),
        close=close,
        doubtful=sum(not all(map(is_trusted, one.records[:2])) for one in chosen),
        sureness=_sureness(chosen, len(ordered), bool(close)),
    )


def _sureness(chosen: Sequence[Rivals], winners: int, close: bool) -> Sureness:
    if all(len(one.records) == 1 for one in chosen):
        return Sureness.UNRIVALLED
    if winners > 1:
        return Sureness.CONTESTED
    return Sureness.WITHIN_ERROR if close else Sureness.CLEAR


def _is_close(one: Rivals, name: str) -> bool:
    """Whether the interval of the ratio holds one, or there is none."""
    if len(one.records) < 2:
        return False
    interval = ratio_of_records(one.records[0], one.records[1], name).interval
    return interval is None or interval.low <= 1 <= interval.high
