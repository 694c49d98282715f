"""A case that ran out of memory: the batch it would have had room for, found by halving."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from modeldyno.core.policy import Policy
from modeldyno.core.types import Case, Outcome, Status

Attempt = Callable[[Case], Outcome]


def trial(policy: Policy) -> Policy:
    """As little work as shows whether a case fits."""
    least = {"processes": 1, "samples": 3, "warmup_max_s": 0.0, "memory_steps": 1, "energy_windows": 0}
    return policy.model_copy(update={**least, "profile": False, "preload": False})


def with_batch_that_fits(case: Case, outcome: Outcome, attempt: Attempt) -> Outcome:
    """The outcome with what smaller batches showed; as it is where memory was not what went wrong."""
    if not outcome.out_of_memory or case.batch == 1:
        return outcome
    for batch in _halves(case.batch):
        tried = attempt(case.model_copy(update={"batch": batch}))
        if tried.status is Status.OK:
            return _told(outcome, f"batch {batch} fits", f"use --batch {batch}")
        if not tried.out_of_memory:
            return _told(outcome, f"batch {batch} ends otherwise: {tried.reason}", outcome.remedy)
    return _told(outcome, "batch 1 does not fit either", "use a smaller model, shape or --precision")


def _halves(batch: int) -> Iterator[int]:
    while batch > 1:
        batch //= 2
        yield batch


def _told(outcome: Outcome, more: str, remedy: str | None) -> Outcome:
    return outcome.model_copy(update={"reason": f"{outcome.reason}; {more}", "remedy": remedy})
