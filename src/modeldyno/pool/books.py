"""The books of a pool: which models are held, who goes when room is wanted. Knows no locks and no devices."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterable

from modeldyno.core.types import Case
from modeldyno.pool.errors import TooLarge
from modeldyno.pool.loading import Model


class Books:
    """Models from the least to the most recently used, and room that is promised to loads under way."""

    def __init__(self, budget_mb: float | None) -> None:
        self.budget_mb = budget_mb
        """For the host, and for each device with memory of its own; None: all that is there."""
        self.models: OrderedDict[Case, Model] = OrderedDict()
        self.evictions = 0
        self.peak_mb: defaultdict[str, float] = defaultdict(float)
        """The most that was ever held and promised, by account."""
        self._leaving: list[Model] = []
        self._promised: dict[Case, tuple[str, float]] = {}
        self._sizes: dict[Case, tuple[str, float]] = {}

    def use(self, case: Case) -> Model | None:
        """The model with one user more, now the most recently used; None when it is not held."""
        model = self.models.get(case)
        if model:
            model.users += 1
            self.models.move_to_end(case)
        return model

    def give_back(self, model: Model) -> None:
        model.users -= 1
        if model.users == 0 and model in self._leaving:
            self._leaving.remove(model)

    def break_off(self, model: Model, fault: str) -> None:
        """Nobody gets this one any more; what it takes counts until its last user has gone."""
        model.fault = fault
        if self.models.get(model.case) is model:
            del self.models[model.case]
            if model.users:
                self._leaving.append(model)

    def promise(self, case: Case) -> list[Model] | None:
        """Keep room for a load of known size. Gives those who have to go for it; None when there is no room now."""
        if case not in self._sizes:
            return []
        account, mb = self._sizes[case]
        gone = self._evict_for(account, mb)
        if gone is not None:
            self._promised[case] = (account, mb)
            self._note_peak(account)
        return gone

    def admit(self, model: Model) -> list[Model] | None:
        """Take in a model that was measured, with its first user. Gives those who have to go for it; None when there
        is no room now. A size that was not known before can only be made room for afterwards."""
        self.forget_promise(model.case)
        if self.budget_mb is not None and model.mb > self.budget_mb:
            self._sizes.pop(model.case, None)  # nothing to wait for
            raise TooLarge(
                f"{model.case.label} takes {model.mb:.0f} MB, more than the pool's budget of {self.budget_mb:.0f} MB; "
                "raise the budget, or use a smaller batch or precision."
            )
        self._sizes[model.case] = (model.account, model.mb)
        gone = self._evict_for(model.account, model.mb)
        if gone is not None:
            model.users += 1
            self.models[model.case] = model
            self._note_peak(model.account)
        return gone

    def forget_promise(self, case: Case) -> None:
        self._promised.pop(case, None)

    def held_mb(self, account: str) -> float:
        """What models take there, with those that go and those that come."""
        here = sum(model.mb for model in (*self.models.values(), *self._leaving) if model.account == account)
        return here + sum(mb for place, mb in self._promised.values() if place == account)

    def in_use(self) -> list[Model]:
        return [model for model in (*self.models.values(), *self._leaving) if model.users]

    def clear(self) -> list[Model]:
        """Hold nothing any more; gives those who go."""
        gone = list(self.models.values())
        self.models.clear()
        return gone

    def _evict_for(self, account: str, mb: float) -> list[Model] | None:
        if self.budget_mb is None:
            return []
        wanted = self.held_mb(account) + mb - self.budget_mb
        going: list[Model] = []
        for model in self._idle(account):
            if wanted <= 0:
                break
            going.append(model)
            wanted -= model.mb
        if wanted > 0:
            return None
        for model in going:
            del self.models[model.case]
        self.evictions += len(going)
        return going

    def _idle(self, account: str) -> Iterable[Model]:
        return [model for model in self.models.values() if model.account == account and not model.users]

    def _note_peak(self, account: str) -> None:
        self.peak_mb[account] = max(self.peak_mb[account], self.held_mb(account))
