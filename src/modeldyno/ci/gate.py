"""The gate between two versions: blocks of fresh processes in turns, until every case is decided or time is up."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime

from modeldyno.analysis.decision import LOOKS, Decision
from modeldyno.analysis.false_discovery import Q, discoveries
from modeldyno.analysis.verdict import Change
from modeldyno.ci.match import CONFIRM, Match, Terms
from modeldyno.ci.report import CaseVerdict, ControlResult, GateReport, GateVerdict, Ratio
from modeldyno.ci.sides import Contender, pairs
from modeldyno.core.types import Case, Host, Outcome, Status
from modeldyno.runner.turns import Entrant

Observer = Callable[[Case, int, str], None]
"""Told of every block: the case, how many blocks it has, and what is known by now."""


class Gate:
    """All matches of two sides. What was measured is there at any time, also after an interrupt."""

    def __init__(self, old: Contender, new: Contender, terms: Terms) -> None:
        self._old, self._new, self._terms = old, new, terms
        self.matches = [Match(Entrant(old.side, a), Entrant(new.side, b), terms) for a, b in pairs(old, new)]
        self._alarm = Q / (len(self.matches) * len(terms.metrics))
        """An alarm so rare counts whatever the other cases say (Benjamini and Hochberg's first step)."""
        self._started_at, self._begin = datetime.now(UTC), time.monotonic()
        self._deadline = self._begin

    def play(self, observe: Observer) -> None:
        """Look by look over all matches that are not decided, so that none waits for another's last block."""
        for match in self.matches:
            match.prepare()
        self._deadline = time.monotonic() + self._terms.budget_s
        for look in LOOKS:
            for match in self.matches:
                missing = look - len(match.blocks)
                if missing > 0 and not match.is_over(self._alarm) and self._blocks(match, missing, observe):
                    match.look()
                    if match.suspects and self._blocks(match, CONFIRM, observe):
                        match.confirm()

    def _blocks(self, match: Match, count: int, observe: Observer) -> bool:
        """So many more blocks; false when not all could be had."""
        for _ in range(count):
            if time.monotonic() > self._deadline:
                return False
            match.play()
            observe(match.new.case, len(match.blocks), match.state)
            if match.is_obstructed:
                return False
        return True

    def report(self, host: Host, command: str | None = None) -> GateReport:
        cases = tuple(verdicts(self.matches))
        return GateReport(
            kind="ab",
            baseline=self._old.side.name,
            baseline_commit=self._old.commit,
            candidate=self._new.side.name,
            candidate_commit=self._new.commit,
            host=host,
            verdict=overall(cases),
            started_at=self._started_at,
            duration_s=time.monotonic() - self._begin,
            blocks=sum(len(match.blocks) for match in self.matches),
            control=_control(self.matches),
            cases=cases,
            command=command,
        )


def verdicts(matches: Sequence[Match]) -> Iterator[CaseVerdict]:
    """Every metric of every case; alarms are held against their number (Benjamini and Hochberg)."""
    asked = [(match, name) for match in matches if not match.is_obstructed for name in match.terms.metrics]
    decisions = [match.decisions.get(name) for match, name in asked]
    p_values = [decision.p_value for decision in decisions if decision and decision.p_value is not None]
    found = iter(discoveries(p_values))
    for match in matches:
        if match.is_obstructed:
            yield _without_numbers(match)
    for (match, name), decision in zip(asked, decisions, strict=True):
        counts = next(found) if decision and decision.p_value is not None else False
        yield _verdict(match, name, decision, counts)


def _verdict(match: Match, name: str, decision: Decision | None, counts: bool) -> CaseVerdict:
    if decision is None or decision.ratio is None:
        return _case(match, name, Change.AMBIGUOUS, _why_unknown(match, name))
    regression = decision.change is Change.WORSE and counts and name in match.confirmed
    unproven = decision.change is Change.WORSE and not regression
    change = Change.AMBIGUOUS if unproven else decision.change
    note: str | None = None
    if unproven:
        note = "not counted among so many cases" if name in match.confirmed else "not confirmed by fresh blocks"
    elif decision.widened_by_noise and change is Change.AMBIGUOUS:
        note = f"this host is too noisy for a margin of {match.terms.margin(name):.1%}"
    old, new = match.values(name)
    return _case(match, name, change, note).model_copy(
        update={
            "baseline": old,
            "candidate": new,
            "ratio": Ratio(value=decision.ratio.value, low=decision.ratio.low, high=decision.ratio.high),
            "margin": decision.margin,
            "p_value": decision.p_value,
            "regression": regression,
            "confirmed": name in match.confirmed,
        }
    )


def _why_unknown(match: Match, name: str) -> str:
    if match.blocks and not match.ratios(name):
        missing = [side for side, value in zip(("old", "new"), match.values(name), strict=True) if value is None]
        return f"there is no {name} on the {' and the '.join(missing)} side"
    return f"the budget was spent after {len(match.blocks)} of {LOOKS[0]} blocks"


def _without_numbers(match: Match) -> CaseVerdict:
    """What only the new side cannot run any more is a regression; of anything else nothing is known."""
    name, old, new = match.terms.metrics[0], match.old_obstacle, match.new_obstacle
    if new and not old:
        broken = _is_broken(new)
        note = f"the new side is {new.status.value}: {new.reason}"
        found = _case(match, name, Change.WORSE if broken else Change.AMBIGUOUS, note)
        return found.model_copy(update={"regression": broken, "confirmed": broken})
    if old and not new:
        return _case(match, name, Change.AMBIGUOUS, f"the old side is {old.status.value}: {old.reason}")
    return _case(match, name, Change.AMBIGUOUS, f"neither side can run it: {old.reason if old else None}")


def _is_broken(outcome: Outcome) -> bool:
    """It crashed or computes wrongly, twice; a hot device or a missing package is not the new version's fault."""
    wrong = outcome.check is not None and not outcome.check.passed
    return outcome.status is Status.FAILED or (outcome.status is Status.INVALID and wrong)


def _case(match: Match, name: str, change: Change, note: str | None) -> CaseVerdict:
    old, new = match.old.case, match.new.case
    label = new.label if old.key == new.key else f"{old.label} -> {new.label}"
    results = (result for block in match.blocks for result in (block.new, block.old))
    device = next((result.outcome.device for result in results if result.outcome.device), None)
    return CaseVerdict(
        case=label,
        case_key=new.key,
        metric=name,
        device=device.name if device else None,
        margin=match.terms.margin(name),
        change=change,
        note=note,
    )


def overall(cases: Sequence[CaseVerdict]) -> GateVerdict:
    if any(case.regression for case in cases):
        return GateVerdict.REGRESSION
    decided = cases and all(case.change in (Change.SAME, Change.BETTER) for case in cases)
    return GateVerdict.OK if decided else GateVerdict.UNDECIDED


def _control(matches: Sequence[Match]) -> ControlResult | None:
    """The noisiest control."""
    decisions = [
        (match.terms.margin(name), decision) for match in matches for name, decision in match.decisions.items()
    ]
    noises = [(decision.noise, decision.noise > margin) for margin, decision in decisions if decision.noise is not None]
    if not noises:
        return None
    return ControlResult(noise=max(noise for noise, _ in noises), widened=any(wide for _, wide in noises))
