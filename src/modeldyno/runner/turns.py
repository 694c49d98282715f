"""Cases that take turns: all loaded side by side, one at work at a time, so that the host's drift hits all alike."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from functools import partial
from typing import IO

from pydantic import ValidationError

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import Prepares
from modeldyno.core.types import Case, Outcome, Status
from modeldyno.runner.isolate import Worker, describe_exit, failed
from modeldyno.runner.job import Finished, Job, Turn
from modeldyno.runner.processes import Side, fresh
from modeldyno.workloads import WORKLOADS

READY = Outcome(status=Status.OK)
"""Of one that was loaded and warm, and was stopped because another could not take part."""


@dataclass(frozen=True)
class Entrant:
    """A case in an installation."""

    side: Side
    case: Case


@dataclass(frozen=True)
class Result:
    """What one entrant did in one block: its outcome, and its samples turn by turn."""

    outcome: Outcome
    turns: tuple[tuple[float, ...], ...] = ()


def prepare(entrant: Entrant, policy: Policy, timeout_s: float) -> Outcome:
    """Exports and references of a case, in a process of that installation that nothing is measured in."""
    if not isinstance(WORKLOADS.get(entrant.case.workload), Prepares):
        return Outcome(status=Status.OK)
    job = Job(cases=(entrant.case,), policy=policy, prepare=True)
    with tempfile.TemporaryFile() as log, Worker(job, partial(fresh, side=entrant.side), log) as worker:
        return _Conversation(worker, log, timeout_s).outcome()


FEWEST_ROUNDS = 4


@dataclass(frozen=True)
class Pace:
    """How a block is cut into turns."""

    rounds: int = 32
    """Turns of each entrant."""
    turn_s: float = 0.025
    longest_s: float = 30.0
    """No further rounds after so long, but for the fewest that must be: for steps of a second."""


def run_block(entrants: Sequence[Entrant], policy: Policy, pace: Pace, timeout_s: float) -> tuple[Result, ...]:
    """One block of fresh processes: loaded one after the other, they sample in turns.

    When one of them cannot take part, the others are stopped: they were ready, and their result says no more than that.
    The first two change places from round to round, so that neither is always the earlier; nobody has two turns in a
    row, because the second would find the caches as it left them."""
    with ExitStack() as opened:
        racers = [_Racer(entrant, policy, timeout_s, opened) for entrant in entrants]
        if not all(racer.is_ready for racer in racers):
            return tuple(Result(READY) if racer.is_ready else racer.finish() for racer in racers)
        begin = time.monotonic()
        for number in range(pace.rounds):
            if number >= FEWEST_ROUNDS and number % 2 == 0 and time.monotonic() - begin > pace.longest_s:
                break
            for racer in _order(racers, number):
                racer.take_turn(pace.turn_s)
        return tuple(racer.finish() for racer in racers)


def _order(racers: list[_Racer], number: int) -> list[_Racer]:
    if number % 2 == 0 or len(racers) < 3:
        return racers
    first, second, *others = racers
    return [second, first, *others]


class _Conversation:
    """What a worker says, until it has said all."""

    def __init__(self, worker: Worker, log: IO[bytes], timeout_s: float) -> None:
        self._worker, self._log, self._timeout_s = worker, log, timeout_s
        self._events = worker.events(timeout_s)
        self._outcome: Outcome | None = None

    def turn(self) -> Turn | None:
        """The next turn it reports; None when it has ended instead."""
        try:
            for event in self._events if self._outcome is None else ():
                if isinstance(event, Turn):
                    return event
                if isinstance(event, Finished):
                    self._outcome = event.outcome
                    return None
        except TimeoutError:
            self._worker.kill()
            reason = f"no result within {self._timeout_s:g} s: killed"
            self._outcome = failed(reason, "raise --timeout or use a smaller model", self._log)
        except ValidationError as error:
            reason = f"the worker's answer cannot be read: {error.errors()[0]['msg']}"
            self._outcome = failed(reason, "use one version of modeldyno on both sides", self._log)
        if self._outcome is None:
            self._outcome = failed(*describe_exit(self._worker.wait()), self._log)
        return None

    def outcome(self) -> Outcome:
        """How it ended; whatever else it says is passed over."""
        while self._outcome is None:
            self.turn()
        return self._outcome


class _Racer:
    """One entrant of a block: started, loaded and warm when it is made, or ended already."""

    def __init__(self, entrant: Entrant, policy: Policy, timeout_s: float, opened: ExitStack) -> None:
        log = opened.enter_context(tempfile.TemporaryFile())  # noqa: SIM115 - the stack closes it
        job = Job(cases=(entrant.case,), policy=policy)
        self._worker = opened.enter_context(Worker(job, partial(fresh, side=entrant.side), log, in_turns=True))
        self._talk = _Conversation(self._worker, log, timeout_s)
        self._turns: list[tuple[float, ...]] = []
        self.is_ready = self._talk.turn() is not None

    def take_turn(self, seconds: float) -> None:
        self._worker.turn(seconds)
        if turn := self._talk.turn():
            self._turns.append(turn.samples_ms)

    def finish(self) -> Result:
        self._worker.turn(None)
        outcome = self._talk.outcome()
        if outcome.status is Status.OK and not self.is_ready:
            outcome = Outcome(status=Status.SKIPPED, reason="its workload does not sample in turns")
        return Result(outcome, tuple(self._turns))
