"""The gate between two versions: blocks of fresh processes in turns, until every case is decided or time is up."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from statistics import fmean, median

from modeldyno.analysis.decision import LOOKS, Decision, block_ratio, decide
from modeldyno.analysis.false_discovery import discoveries
from modeldyno.analysis.verdict import Change, margin_of
from modeldyno.ci.report import CaseVerdict, ControlResult, GateReport, GateVerdict, Ratio
from modeldyno.ci.sides import Contender, pairs
from modeldyno.core.metrics import metric
from modeldyno.core.policy import Policy
from modeldyno.core.types import Case, Host, Outcome, Status
from modeldyno.runner.turns import Entrant, Result, prepare, run_block

LATENCY = "latency_ms"
CONFIRM = 3
"""Fresh blocks that must agree before an alarm is given."""
POLICY = Policy(
    name="gate", processes=1, relative_width=1.0, max_time_s=1.0, warmup_max_s=2.0, energy_windows=0, profile=False
)


@dataclass(frozen=True)
class Terms:
    """What is asked of a gate."""

    metrics: tuple[str, ...] = (LATENCY,)
    margins: Mapping[str, float] = field(default_factory=dict)
    """By metric; the usual ones where it is not named."""
    budget_s: float = 1800.0
    """No block begins after so long."""
    rounds: int = 32
    """Turns of each side in a block."""
    turn_s: float = 0.025
    timeout_s: float = 900.0

    def margin(self, name: str) -> float:
        return self.margins.get(name, margin_of(name))


Observer = Callable[[Case, int, str], None]
"""Told of every block: the case, how many blocks it has, and what is known by now."""


class Match:
    """One case of the old side against its fellow of the new one, with the old one against itself as control."""

    def __init__(self, old: Entrant, new: Entrant, terms: Terms) -> None:
        self.old, self.new, self._terms = old, new, terms
        self.blocks: list[tuple[Result, Result, Result]] = []
        self.obstacles: tuple[Outcome | None, Outcome | None] = (None, None)
        """How each side ended where it could not be measured."""
        self.confirmed: set[str] = set()
        self.decisions: dict[str, Decision] = {}

    @property
    def is_over(self) -> bool:
        return any(self.obstacles) or (
            bool(self.decisions)
            and all(
                decision.change is not Change.AMBIGUOUS
                and (decision.change is not Change.WORSE or name in self.confirmed)
                for name, decision in self.decisions.items()
            )
        )

    def prepare(self) -> None:
        outcomes = [prepare(entrant, POLICY, self._terms.timeout_s) for entrant in (self.old, self.new)]
        self._note(outcomes)

    def play(self) -> None:
        """One more block, and what follows from all of them."""
        entrants = (self.old, self.new, self.old)
        old, new, control = run_block(entrants, POLICY, self._terms.rounds, self._terms.turn_s, self._terms.timeout_s)
        self._note([old.outcome if old.outcome.status is not Status.OK else control.outcome, new.outcome])
        if not any(self.obstacles):
            self.blocks.append((old, new, control))

    def look(self) -> None:
        self.decisions = {
            name: decide(self.ratios(name), self.controls(name), self._terms.margin(name), metric(name).direction)
            for name in self._terms.metrics
        }

    def confirm(self) -> None:
        """What looks worse after the fresh blocks alone, and still after all of them, is an alarm."""
        suspects = self.suspects
        self.look()
        for name in suspects:
            decision = self.decisions[name]
            fresh = decide(self.ratios(name)[-CONFIRM:], (), self._terms.margin(name), metric(name).direction)
            agrees = fresh.ratio is not None and decision.ratio is not None
            if agrees and decision.change is Change.WORSE and _same_side(fresh, decision, self._terms.margin(name)):
                self.confirmed.add(name)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Metrics that look worse and were not confirmed yet."""
        worse = (name for name, decision in self.decisions.items() if decision.change is Change.WORSE)
        return tuple(name for name in worse if name not in self.confirmed)

    def ratios(self, name: str) -> list[float]:
        return [ratio for old, new, _ in self.blocks if (ratio := _ratio(name, old, new)) is not None]

    def controls(self, name: str) -> list[float]:
        return [ratio for old, _, again in self.blocks if (ratio := _ratio(name, old, again)) is not None]

    def value(self, name: str, place: int) -> float | None:
        """The metric of one side: the median over its blocks."""
        values = [value for block in self.blocks if (value := _value(name, block[place])) is not None]
        return median(values) if values else None

    @property
    def state(self) -> str:
        """One line on how it stands; nothing is decided by it."""
        if bad := next(filter(None, self.obstacles), None):
            return f"{bad.status.value} ({bad.reason})"
        known = ((name, self.ratios(name)) for name in self._terms.metrics)
        return ", ".join(f"{name} x{math.exp(fmean(ratios)):.3f}" for name, ratios in known if ratios)

    def _note(self, outcomes: Sequence[Outcome]) -> None:
        bad = [outcome if outcome.status is not Status.OK else None for outcome in outcomes]
        self.obstacles = (bad[0], bad[1])


def _same_side(fresh: Decision, all_of_it: Decision, margin: float) -> bool:
    """Whether the fresh blocks alone are beyond the margin on the same side as all of them."""
    if fresh.ratio is None or all_of_it.ratio is None:
        return False
    if all_of_it.ratio.value > 1:
        return fresh.ratio.value > 1 + margin
    return fresh.ratio.value < 1 / (1 + margin)


def _value(name: str, result: Result) -> float | None:
    if name == LATENCY:
        return median(sample for turn in result.turns for sample in turn) if any(result.turns) else None
    given = result.outcome.metrics.get(name)
    return given.value if given else None


def _ratio(name: str, old: Result, new: Result) -> float | None:
    if name == LATENCY:
        return block_ratio(old.turns, new.turns)
    before, after = _value(name, old), _value(name, new)
    return None if before is None or after is None else block_ratio([[before]], [[after]])


def run_gate(
    old: Contender, new: Contender, terms: Terms, host: Host, observe: Observer, command: str | None = None
) -> tuple[GateReport, list[Match]]:
    """Play until all is decided; returns the report, and the matches with all that was measured."""
    started_at, begin = datetime.now(UTC), time.monotonic()
    matches = [Match(Entrant(old.side, a), Entrant(new.side, b), terms) for a, b in pairs(old, new)]
    for match in matches:
        match.prepare()
    _Clock(begin, terms.budget_s).play(matches, observe)
    cases = tuple(_verdicts(matches, terms))
    report = GateReport(
        kind="ab",
        baseline=old.side.name,
        candidate=new.side.name,
        host=host,
        verdict=overall(cases),
        started_at=started_at,
        duration_s=time.monotonic() - begin,
        blocks=sum(len(match.blocks) for match in matches),
        control=_control(matches, terms),
        cases=cases,
        command=command,
    )
    return report, matches


class _Clock:
    """Hands out blocks while there is time."""

    def __init__(self, begin: float, budget_s: float) -> None:
        self._deadline = begin + budget_s

    def play(self, matches: Sequence[Match], observe: Observer) -> None:
        """Look by look over all matches that are not decided, so that none waits for another's last block."""
        for look in LOOKS:
            for match in matches:
                if match.is_over or not self._blocks(match, look - len(match.blocks), observe):
                    continue
                match.look()
                if match.suspects and self._blocks(match, CONFIRM, observe):
                    match.confirm()

    def _blocks(self, match: Match, count: int, observe: Observer) -> bool:
        """So many more blocks; false when not all could be had."""
        for _ in range(count):
            if time.monotonic() > self._deadline:
                match.look()
                return False
            match.play()
            observe(match.new.case, len(match.blocks), match.state)
            if any(match.obstacles):
                return False
        return True


def _verdicts(matches: Sequence[Match], terms: Terms) -> Iterator[CaseVerdict]:
    """Every metric of every case; alarms are held against their number (Benjamini and Hochberg)."""
    p_values = [
        1.0 if decision.p_value is None else decision.p_value
        for match in matches
        for decision in match.decisions.values()
    ]
    counts = iter(discoveries(p_values))
    for match in matches:
        if any(match.obstacles):
            yield _without_numbers(match, terms)
            continue
        for name in terms.metrics:
            decision = match.decisions.get(name)
            yield _verdict(match, name, terms, decision, next(counts) if decision else False)


def _verdict(match: Match, name: str, terms: Terms, decision: Decision | None, counts: bool) -> CaseVerdict:
    if decision is None or decision.ratio is None:
        why = "the budget was spent before it was measured" if not match.blocks else f"has no {name} on both sides"
        return _case(match, name, terms.margin(name), Change.AMBIGUOUS, why)
    regression = decision.change is Change.WORSE and counts and name in match.confirmed
    unproven = decision.change is Change.WORSE and not regression
    change = Change.AMBIGUOUS if unproven else decision.change
    note: str | None = None
    if unproven:
        note = "not counted among so many cases" if name in match.confirmed else "not confirmed by fresh blocks"
    elif decision.widened_by_noise and change is Change.AMBIGUOUS:
        note = f"this host is too noisy for a margin of {terms.margin(name):.1%}"
    return _case(match, name, decision.margin, change, note).model_copy(
        update={
            "baseline": match.value(name, 0),
            "candidate": match.value(name, 1),
            "ratio": Ratio(value=decision.ratio.value, low=decision.ratio.low, high=decision.ratio.high),
            "p_value": decision.p_value,
            "regression": regression,
            "confirmed": name in match.confirmed,
        }
    )


def _without_numbers(match: Match, terms: Terms) -> CaseVerdict:
    """A case that only the old side can run is a regression; one that neither can is no news."""
    old, new = match.obstacles
    name = terms.metrics[0]
    if new and not old:
        note = f"the new side is {new.status.value}: {new.reason}"
        broken = new.status in (Status.FAILED, Status.INVALID)
        found = _case(match, name, terms.margin(name), Change.WORSE if broken else Change.AMBIGUOUS, note)
        return found.model_copy(update={"regression": broken, "confirmed": broken})
    if old and not new:
        note = f"the old side was {old.status.value}: {old.reason}"
        return _case(match, name, terms.margin(name), Change.BETTER, note)
    reason = old.reason if old else None
    return _case(match, name, terms.margin(name), Change.AMBIGUOUS, f"neither side can run it: {reason}")


def _case(match: Match, name: str, margin: float, change: Change, note: str | None) -> CaseVerdict:
    old, new = match.old.case, match.new.case
    label = new.label if old.key == new.key else f"{old.label} -> {new.label}"
    return CaseVerdict(case=label, case_key=new.key, metric=name, margin=margin, change=change, note=note)


def overall(cases: Sequence[CaseVerdict]) -> GateVerdict:
    if any(case.regression for case in cases):
        return GateVerdict.REGRESSION
    decided = cases and all(case.change in (Change.SAME, Change.BETTER) for case in cases)
    return GateVerdict.OK if decided else GateVerdict.UNDECIDED


def _control(matches: Sequence[Match], terms: Terms) -> ControlResult | None:
    noises = [
        (d.noise, d.noise > terms.margin(n)) for m in matches for n, d in m.decisions.items() if d.noise is not None
    ]
    if not noises:
        return None
    return ControlResult(noise=fmean(noise for noise, _ in noises), widened=any(wide for _, wide in noises))
