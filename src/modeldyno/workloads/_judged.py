"""The outcome of a measurement, which is only as good as its passport."""

from __future__ import annotations

from typing import Any

from modeldyno.core.types import Outcome, Passport, Status, Verdict


def judged(trust: Passport, **found: Any) -> Outcome:
    """What was found, `invalid` with the reasons where a check of the passport says so."""
    doubts = [check.advice or check.name for check in trust.concerns if check.verdict is Verdict.INVALID]
    status = Status.INVALID if doubts else Status.OK
    return Outcome(status=status, reason="; ".join(doubts) or None, passport=trust, **found)
