"""Models that fail, hang or weigh what a test wants: doubles for faults and races, never for a number."""

from __future__ import annotations

import threading
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

from modeldyno.core.types import Case, Placement
from modeldyno.pool import Loader, Model

SOON_S = 20.0
"""Longer than anything here takes; a test that waits so long has failed."""


def case(model: str, **fields: Any) -> Case:
    return Case(model=model, platform="cpu", runtime="torch", **fields)


class Weight:
    """Does nothing but what it is told, and notices when two steps overlap."""

    load_ms = 0.0

    def __init__(self, act: Callable[[], Any] = lambda: None) -> None:
        self.act = act
        self.inside = self.most_inside = self.steps = 0

    def step(self) -> Any:
        self.inside += 1
        self.most_inside = max(self.most_inside, self.inside)
        try:
            return self.act()
        finally:
            self.inside -= 1
            self.steps += 1

    def outputs(self) -> dict[str, Any]:
        return {"none": np.zeros(1)}

    def placement(self) -> Placement:
        return Placement(device="none", compute_precision="none")


class Shelf(Loader):
    """Hands out doubles of the sizes it is given; a hook runs in each load."""

    def __init__(self, sizes: dict[str, float] | None = None, at_once: int = 1) -> None:
        super().__init__()
        self.sizes = sizes or {}
        self.at_once = at_once
        self.loads: Counter[str] = Counter()
        self.hook: Callable[[Case], None] = lambda case: None
        self.made: dict[str, Weight] = {}
        self.closed = False

    def load(self, case: Case) -> Model:
        self.loads[case.model] += 1
        self.hook(case)
        self.made[case.model] = Weight()
        mb = self.sizes.get(case.model, 1.0)
        return Model(case, self.made[case.model], "host", mb, threading.Semaphore(self.at_once))

    def let_go(self, gone: list[Model]) -> None:
        gone.clear()

    def close(self) -> None:
        self.closed = True


def together(count: int, work: Callable[[int], Any]) -> list[Any]:
    """What each of `count` threads got that began at one moment: its result, or its error."""
    start = threading.Barrier(count)
    results: list[Any] = [None] * count

    def run(number: int) -> None:
        start.wait(SOON_S)
        try:
            results[number] = work(number)
        except Exception as error:  # noqa: BLE001 - the test looks at it
            results[number] = error

    threads = [threading.Thread(target=run, args=(number,)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(SOON_S)
        assert not thread.is_alive(), "a thread hangs"
    return results
