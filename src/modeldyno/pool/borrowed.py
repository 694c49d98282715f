"""A model in a borrower's hands."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from modeldyno.core.errors import JobError
from modeldyno.core.types import Case, Placement
from modeldyno.pool.errors import Broken
from modeldyno.pool.loading import Model

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

T = TypeVar("T")


class Lender(Protocol):
    """Who wants to know how a borrowed model fares."""

    def broke(self, model: Model, error: Exception) -> None: ...

    def worked(self, model: Model) -> None: ...


class Borrowed:
    """A `Loaded` that waits for its turn, and tells the pool when the model fails.

    Others step the same model in between: what `step` returns holds until the next one's step, `outputs` is a copy."""

    def __init__(self, model: Model, lender: Lender) -> None:
        self.case: Case = model.case
        self.load_ms = model.loaded.load_ms
        self._model: Model | None = model
        self._lender = lender

    def step(self) -> Any:
        return self._in_turn(lambda model: model.loaded.step())

    def outputs(self) -> Arrays:
        return self._in_turn(lambda model: model.loaded.outputs())

    def placement(self) -> Placement:
        return self._in_turn(lambda model: model.loaded.placement())

    def hand_in(self) -> None:
        """From now on it is of no use, so that a forgotten name does not keep the model in memory."""
        self._model = None

    def _in_turn(self, work: Callable[[Model], T]) -> T:
        model = self._model
        if model is None:
            raise JobError(f"{self.case.label} was given back to the pool; borrow it again.")
        with model.turns:
            if model.fault:
                raise Broken(f"{model.case.label} failed for another borrower with '{model.fault}'; borrow it again.")
            try:
                result = work(model)
            except Exception as error:
                self._lender.broke(model, error)
                raise
        self._lender.worked(model)
        return result
