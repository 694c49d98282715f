"""What takes longer than a page may: regressions of all series and what to measure next, worked out in a process beside
the server whenever the store has been quiet for a moment."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from datetime import datetime
from multiprocessing import get_context
from pathlib import Path

from modeldyno.core.errors import DynoError
from modeldyno.core.types import Provenance
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.web.shelf import Shelf

QUIET_S = 3.0
"""So long nothing must have changed; while a run writes, thinking would disturb it."""
METRIC = "latency_ms"
NEXT = 6
MOST_REGRESSIONS = 200


@dataclass(frozen=True)
class Regression:
    """A level that got worse inside one environment, and stayed so."""

    series_id: str
    label: str
    model: str
    platform: str
    device: str | None
    metric: str
    record_id: str
    """The first of the new level."""
    at: datetime
    commit: str | None
    ratio: float | None
    low: float | None
    high: float | None
    suspect: str | None


@dataclass(frozen=True)
class Next:
    """A measurement that would narrow predictions."""

    model: str
    device: str
    platform: str
    runtime: str
    precision: str
    batch: int
    why: str
    command: str | None


@dataclass(frozen=True)
class Thought:
    """As far as it has got."""

    version: str | None = None
    """Of the snapshot it is about; None before the first."""
    regressions: tuple[Regression, ...] = ()
    series: int = 0
    """That were looked at."""
    next: tuple[Next, ...] = ()
    why_no_next: str | None = "not worked out yet"
    predictor_is_fresh: bool = False
    """Whether one is trained on all that the store holds."""


class Thinker:
    """A thread that waits for quiet, and a process that works."""

    def __init__(self, shelf: Shelf, problem: Callable[[str], None]) -> None:
        self._shelf, self._problem = shelf, problem
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._keep, name="thinker", daemon=True)
        self.now = Thought()

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        self._stopped.set()
        self._thread.join(timeout=5)

    def _keep(self) -> None:
        seen, since = "", time.monotonic()
        while not self._stopped.wait(0.5):
            try:
                version = self._shelf.now.version
            except DynoError:
                continue
            if version != seen:
                seen, since = version, time.monotonic()
            elif version != self.now.version and time.monotonic() - since >= QUIET_S:
                self.now = self._thought(version)

    def _thought(self, version: str) -> Thought:
        context = get_context("spawn")
        with ProcessPoolExecutor(1, mp_context=context, initializer=_step_back) as pool:
            try:
                return pool.submit(think, self._shelf.store.path, version).result()
            except Exception as error:  # noqa: BLE001 - thinking goes on with the next snapshot
                self._problem(f"Regressions could not be worked out: {error}")
                return Thought(version=version, why_no_next=str(error))


def _step_back() -> None:
    """What is measured goes first, and a server that was killed leaves nobody behind."""
    os.nice(10)
    threading.Thread(target=_end_with, args=(os.getppid(),), daemon=True).start()


def _end_with(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(1.0)
    os._exit(1)


def think(path: Path, version: str) -> Thought:
    """In a process of its own."""
    from modeldyno.predict.stored import standing

    store = Store(path)
    regressions, series = _regressions(store)
    suggested, why_not = _next(store)
    return Thought(version, regressions, series, suggested, why_not, not standing(store).stale)


def _regressions(store: Store) -> tuple[tuple[Regression, ...], int]:
    from modeldyno.analysis.history import analyse
    from modeldyno.store.points import read_series

    real = tuple(one for one in Provenance if one.is_real)
    series = read_series(store, Filter(provenance=real), METRIC)
    found = []
    for history in analyse(series, METRIC):
        for step in history.steps:
            if step.is_alarm:
                case, ratio = history.series.case, step.ratio
                found.append(
                    Regression(
                        series_id=history.series.series_id,
                        label=case.label,
                        model=case.model,
                        platform=case.platform,
                        device=history.series.device,
                        metric=METRIC,
                        record_id=step.after.record_id,
                        at=step.after.started_at,
                        commit=step.after.commit,
                        ratio=ratio.value if ratio else None,
                        low=ratio.low if ratio else None,
                        high=ratio.high if ratio else None,
                        suspect=step.suspicion.what.value if step.suspicion else None,
                    )
                )
    found.sort(key=lambda one: one.at, reverse=True)
    return tuple(found[:MOST_REGRESSIONS]), len(series)


def _next(store: Store) -> tuple[tuple[Next, ...], str | None]:
    """From the predictor that is kept: learning anew is for `dyno predict train`."""
    from modeldyno.predict.measure_next import suggest
    from modeldyno.predict.runnable import devices_here, run_command
    from modeldyno.predict.stored import cells_of, kept_predictor

    predictor = kept_predictor(store)
    if predictor is None:
        return (), "no predictor has been trained; run dyno predict train"
    here = devices_here()
    cells = cells_of(store)
    local = [cell for cell in cells if run_command(cell, here)]
    wanted = (lambda cell: run_command(cell, here) is not None) if local else (lambda _: True)
    found = suggest(predictor, cells, NEXT, wanted)
    return tuple(
        Next(
            one.cell.model,
            one.cell.device,
            one.cell.platform,
            one.cell.runtime,
            one.cell.precision,
            one.cell.batch,
            one.why,
            run_command(one.cell, here),
        )
        for one in found
    ), None if found else "all known models are measured on the devices here"
