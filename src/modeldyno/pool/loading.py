"""Brings a model onto its device and finds out what it takes there."""

from __future__ import annotations

import contextlib
import gc
import importlib
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field

from modeldyno import models
from modeldyno.core.protocols import KeepsLast, Loaded, Runtime, Session, Source, StepsAtOnce
from modeldyno.core.types import Case, Precision
from modeldyno.platforms import PLATFORMS
from modeldyno.pool.memory import MB, account_of, memory_mb
from modeldyno.runtimes import RUNTIMES

_ONE_AT_A_TIME = threading.Lock()
"""Loads of a whole process: the model libraries build through global switches, and memory is read as a difference."""
_ELEMENT_BYTES: Mapping[str, int] = {Precision.FP32: 4, Precision.BF16: 2, Precision.FP16: 2, Precision.INT8: 1}
_PAGE_MB = 4096 / MB
"""Memory is given out in pages: nothing takes less."""


@dataclass(eq=False)
class Model:
    """A loaded model as a pool keeps it; what changes is changed under the pool's lock only."""

    case: Case
    loaded: Loaded
    account: str
    """Whose memory it takes: the host's or a device's."""
    mb: float
    """What it takes there between steps: as measured, but never less than its parameters."""
    turns: threading.Semaphore = field(default_factory=threading.Semaphore)
    """As many steps at once as its runtime declares safe, else one."""
    users: int = 0
    fault: str | None = None
    """Why it may not be used any more."""


class Loader:
    """Loads models into this process; opens each device once and keeps it open."""

    def __init__(self, session_of: Callable[[Case], Session] | None = None) -> None:
        """`session_of` hands in devices that are open already, and stay so."""
        self._session_of = session_of
        self._opening = threading.Lock()
        self._opened: dict[str, Session] = {}

    def session(self, case: Case) -> Session:
        """The open device of a case."""
        if self._session_of:
            return self._session_of(case)
        with self._opening:
            if case.target not in self._opened:
                self._opened[case.target] = PLATFORMS.get(case.platform).open(case.index)
            return self._opened[case.target]

    def load(self, case: Case) -> Model:
        """The model after its first step, so that what it takes is what it takes when it works."""
        runtime, session = RUNTIMES.get(case.runtime), self.session(case)
        with _ONE_AT_A_TIME, _no_garbage_collection():
            runtime.check(session, case.precision)
            for module in runtime.preloads:  # else the first model would pay for the library
                importlib.import_module(module)
            source = models.prepare(models.resolve(case.model), case.batch, case.shape, case.weights)
            _own(runtime)
            before = memory_mb(session)
            try:
                loaded = runtime.load(source, session, case)
            finally:
                _own(runtime)
            session.lap(loaded.step, 1)
            # Other threads step meanwhile, and what they free would hide a part of this model.
            took = max(memory_mb(session) - before, _own_mb(source, case), _PAGE_MB)
        return Model(case, loaded, account_of(session), took, threading.Semaphore(_at_once(loaded)))

    def let_go(self, gone: list[Model]) -> None:
        """Free the models of one account. Some sit in reference cycles that only the garbage collector takes apart; it
        stops all threads meanwhile, so it is called only when the memory did not come back."""
        if not gone:
            return
        session, taken = self.session(gone[0].case), sum(model.mb for model in gone)
        before = memory_mb(session)
        gone.clear()
        if before - memory_mb(session) < taken / 2:
            gc.collect()

    def close(self) -> None:
        with self._opening:
            for session in self._opened.values():
                session.close()
            self._opened.clear()


@contextlib.contextmanager
def _no_garbage_collection() -> Iterator[None]:
    """What others left behind must not go between two readings of the memory."""
    running = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if running:
            gc.enable()


def _own(runtime: Runtime) -> None:
    """The pool alone owns its models: nobody else may share one by accident, or keep it when it is let go."""
    models.release()
    if isinstance(runtime, KeepsLast):
        runtime.release()


def _own_mb(source: Source, case: Case) -> float:
    """What the parameters take alone, where their number is known."""
    return (source.info.parameters or 0) * _ELEMENT_BYTES.get(case.precision, 1) / MB


def _at_once(loaded: Loaded) -> int:
    return loaded.steps_at_once() if isinstance(loaded, StepsAtOnce) else 1
