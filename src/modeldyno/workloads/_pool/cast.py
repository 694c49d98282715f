"""Who takes part: the model of the case, the models beside it, and how many use them."""

from __future__ import annotations

from dataclasses import dataclass

from modeldyno import models
from modeldyno.core.errors import DynoError, InputError
from modeldyno.core.types import Case

BESIDE = "beside"
USERS = "users"
USUAL_USERS = 16
MOST_USERS = 256
_LENGTH = "seq"
"""The size that most models with it take any less of."""


@dataclass(frozen=True)
class Cast:
    """The models as the pool's keys."""

    mine: Case
    beside: tuple[Case, ...]
    users: int

    @property
    def models(self) -> tuple[Case, ...]:
        return (self.mine, *self.beside)

    def uses(self) -> list[Case]:
        """One model for each user, in turn."""
        return [self.models[number % len(self.models)] for number in range(self.users)]


def cast_of(case: Case) -> Cast:
    """Raises InputError for options that make no sense."""
    options = {name: value for name, value in case.options.items() if name not in (BESIDE, USERS)}
    mine = _changed(case, workload="inference", options=options)
    return Cast(mine, tuple(_beside(mine, name) for name in _names(case)), _users(case))


def others_of(cast: Cast) -> tuple[Case, ...]:
    """What is evicted or goes on while the first fails: the models beside it, else itself at a smaller size, which
    fits where it does; nobody where it takes no smaller size."""
    smaller = None if cast.beside else _smaller(cast.mine)
    if smaller is None:
        return cast.beside
    try:
        models.prepare(models.resolve(smaller.model), smaller.batch, smaller.shape, smaller.weights).reference()
    except DynoError:
        return ()
    return (smaller,)


def _smaller(case: Case) -> Case | None:
    if case.batch > 1:
        return _changed(case, batch=1)
    sizes = {**models.resolve(case.model).axes, **case.shape}
    half = sizes.get(_LENGTH, 0) // 2
    return _changed(case, shape={**sizes, _LENGTH: half}) if half else None


def _users(case: Case) -> int:
    users = case.options.get(USERS, USUAL_USERS)
    if not isinstance(users, int) or isinstance(users, bool) or not 1 <= users <= MOST_USERS:
        raise InputError(f"The option {USERS} is a number from 1 to {MOST_USERS}, not {users!r}; write {USERS}=16.")
    return users


def _names(case: Case) -> list[str]:
    given = str(case.options.get(BESIDE, ""))
    names = [models.resolve(name.strip()).name for name in given.split("+")] if given else []
    if len({case.model, *names}) <= len(names):
        raise InputError(
            f"The option {BESIDE}={given} names a model twice; each of {case.model} and those beside it is one model."
        )
    return names


def _beside(mine: Case, name: str) -> Case:
    """At the same batch and precision; sizes as asked for where it has the same axes."""
    sizes = {axis: mine.shape.get(axis, usual) for axis, usual in models.resolve(name).axes.items()}
    return _changed(mine, model=name, shape=sizes)


def _changed(case: Case, **changes: object) -> Case:
    return Case.model_validate({**case.model_dump(), **changes})
