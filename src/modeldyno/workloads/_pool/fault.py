"""A failure on purpose, to see that it is isolated and how long recovery takes."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from modeldyno.core.protocols import Loaded, Session
from modeldyno.core.types import Case, Placement
from modeldyno.pool import Loader, Model

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays


class InjectedFault(RuntimeError):
    """Raised in place of the next step of the model that is made to fail."""


class FaultyLoader(Loader):
    """Loads as usual, but one model fails once each time `arm` was called."""

    def __init__(self, session_of: Callable[[Case], Session], victim: Case) -> None:
        super().__init__(session_of)
        self._victim = victim
        self._armed = False

    def arm(self) -> None:
        self._armed = True

    def strike(self) -> None:
        if self._armed:
            self._armed = False
            raise InjectedFault("made to fail by the workload pool")

    def load(self, case: Case) -> Model:
        model = super().load(case)
        if case == self._victim:
            model.loaded = _Victim(model.loaded, self.strike)
        return model


class _Victim:
    def __init__(self, loaded: Loaded, strike: Callable[[], None]) -> None:
        self._loaded, self._strike = loaded, strike
        self.load_ms = loaded.load_ms

    def step(self) -> Any:
        self._strike()
        return self._loaded.step()

    def outputs(self) -> Arrays:
        return self._loaded.outputs()

    def placement(self) -> Placement:
        return self._loaded.placement()
