"""What is timed: a round in which every user borrows a model and does one step, at one time or in turn."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import Session
from modeldyno.core.types import Case
from modeldyno.measure import statistics
from modeldyno.pool import Pool


class Together:
    """All users at one time. It times no parts, but threads are not to be timed behind a guard of the main one's."""

    def __init__(self, pool: Pool, uses: Sequence[Case], crew: Executor) -> None:
        self._pool, self._uses, self._crew = pool, uses, crew

    def __call__(self) -> None:
        for _ in self._crew.map(self._use, self._uses):
            pass

    def read(self) -> Mapping[str, Sequence[float]]:
        return {}

    def _use(self, case: Case) -> None:
        with self._pool.borrow(case) as loaded:
            loaded.step()


class InTurn:
    """The same steps one after the other; reads how long the pool took to hand out the first of them."""

    def __init__(self, pool: Pool, uses: Sequence[Case]) -> None:
        self._pool, self._uses = pool, uses
        self._borrow_us: list[float] = []

    def __call__(self) -> None:
        for place, case in enumerate(self._uses):
            begin = time.perf_counter_ns()
            with self._pool.borrow(case) as loaded:
                if place == 0:
                    self._borrow_us.append((time.perf_counter_ns() - begin) / 1e3)
                loaded.step()

    def read(self) -> Mapping[str, Sequence[float]]:
        taken, self._borrow_us = self._borrow_us, []
        return {"borrow_us": taken}


@dataclass(frozen=True)
class Pair:
    """One round of each kind."""

    together_ms: float
    in_turn_ms: float


def side_by_side(session: Session, together: Together, in_turn: InTurn, policy: Policy) -> list[Pair]:
    """Pairs of rounds right after each other, each kind first by turns: only neighbours in time can be compared."""
    session.lap(in_turn, 1)
    in_turn.read()  # the first round of its kind is not kept
    pairs: list[Pair] = []
    deadline = time.perf_counter() + policy.max_time_s
    while not _enough(pairs, policy) and (len(pairs) < 3 or time.perf_counter() < deadline):
        order = (together, in_turn) if len(pairs) % 2 else (in_turn, together)
        took = {kind: session.lap(kind, 1).host_ns / 1e6 for kind in order}
        pairs.append(Pair(took[together], took[in_turn]))
    return pairs


def _enough(pairs: list[Pair], policy: Policy) -> bool:
    if policy.samples is not None:
        return len(pairs) >= policy.samples
    gains = [pair.in_turn_ms / pair.together_ms for pair in pairs]
    enough = len(gains) >= policy.min_samples
    return enough and statistics.median_interval(gains).relative_half_width <= policy.relative_width
