"""Which model works on which platform, from what really happened; and what to use instead where it does not."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from modeldyno.core.types import Status
from modeldyno.store.outcomes import Try

_WORST_LAST = (Status.OK, Status.INVALID, Status.FAILED, Status.SKIPPED)
"""What ran tells more than what broke, and that more than what was not tried."""


@dataclass(frozen=True)
class Way:
    """What decides for one model, platform, workload, runtime and precision."""

    decisive: Try
    partly: tuple[Try, ...]
    """What does not work while something else does, such as a larger batch."""
    instead: tuple[Try, ...] = ()
    """Where it does not work: what did, the nearest and fastest first."""


@dataclass(frozen=True)
class Cell:
    """One model on one platform: ok if any way is."""

    model: str
    platform: str
    ways: tuple[Way, ...]

    @property
    def best(self) -> Way:
        """The way that got farthest."""
        return min(self.ways, key=lambda way: _WORST_LAST.index(way.decisive.status))

    @property
    def status(self) -> Status:
        return self.best.decisive.status


@dataclass(frozen=True)
class Matrix:
    """All that was tried."""

    models: tuple[str, ...]
    platforms: tuple[str, ...]
    cells: tuple[Cell, ...]


def matrix(tried: Iterable[Try]) -> Matrix:
    """Model by platform, from the newest outcome of each case and each test."""
    ways: dict[tuple[str, str], dict[tuple[str | None, ...], list[Try]]] = {}
    good: list[Try] = []
    for one in tried:
        ways.setdefault((one.model, one.platform), {}).setdefault(_how(one), []).append(one)
        good += [one] if one.status is Status.OK else []
    cells = [
        Cell(model, platform, tuple(_way(outcomes, good) for outcomes in found.values()))
        for (model, platform), found in sorted(ways.items())
    ]
    models, platforms = ({getattr(cell, name) for cell in cells} for name in ("model", "platform"))
    return Matrix(tuple(sorted(models)), tuple(sorted(platforms)), tuple(cells))


def _how(one: Try) -> tuple[str | None, ...]:
    return one.workload, one.runtime, one.precision


def _way(outcomes: Sequence[Try], good: Sequence[Try]) -> Way:
    """Of what works the fastest decides; if nothing does, the newest of what got farthest."""
    telling = [one for one in outcomes if one.met_device] or outcomes
    newest_first = sorted(telling, key=lambda one: (one.moment, one.outcome_id), reverse=True)
    decisive = min(newest_first, key=lambda one: (_WORST_LAST.index(one.status), _speed(one)))
    if decisive.status is not Status.OK:
        return Way(decisive, (), _instead(decisive, good))
    return Way(decisive, tuple(one for one in newest_first if one.status is not Status.OK))


def _speed(one: Try) -> float:
    """Fastest first; what has no speed last."""
    return -(one.per_s or 0.0)


def _instead(bad: Try, good: Sequence[Try]) -> tuple[Try, ...]:
    """The same work in other ways, each once: on the same platform before another, in the same precision before others,
    at the same batch and shape before others."""
    others = [
        one for one in good if one.model == bad.model and (one.workload in (None, bad.workload) or not bad.workload)
    ]
    near = sorted(
        others,
        key=lambda one: (
            one.platform != bad.platform,
            one.precision != bad.precision,
            (one.batch, one.shape) != (bad.batch, bad.shape),
            _speed(one),
        ),
    )
    ways: dict[tuple[str | None, ...], Try] = {}
    for one in near:
        ways.setdefault((one.platform, *_how(one)), one)
    return tuple(ways.values())
