"""Measures one case from a test, as a run does but without a store."""

from __future__ import annotations

from modeldyno.core.identity import new_id
from modeldyno.core.policy import policy
from modeldyno.core.types import Case, Record
from modeldyno.runner.execute import execute
from modeldyno.runner.plan import make_plan

TIMEOUT_S = 900.0


class _Silent:
    def note(self, process: int, case: Case, text: str) -> None:
        """Nobody watches."""


def measure_case(case: Case, effort: str = "quick", timeout_s: float = TIMEOUT_S) -> Record:
    """The record of this case, from a worker process; `skipped` with the reason where it cannot run here."""
    found: list[Record] = []
    execute(new_id(), make_plan([case]), policy(effort), timeout_s, found.append, _Silent())
    return found[0]
