"""One case of the old side against its fellow of the new one: blocks, looks, and what they say."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from statistics import fmean, median

from modeldyno.analysis.decision import Decision, block_ratio, decide
from modeldyno.analysis.verdict import Change, margin_of
from modeldyno.core.metrics import metric
from modeldyno.core.policy import GATE, Policy
from modeldyno.core.types import Case, Outcome, Status
from modeldyno.runner.assemble import assemble
from modeldyno.runner.turns import Entrant, Pace, Result, prepare, run_block

LATENCY = "latency_ms"
RATES = ("throughput_per_s", "compute_rate_gflops")
"""Work over time: with the same work, the inverse of the latency."""
CONFIRM = 3
"""Fresh blocks that must agree before an alarm is given."""
TRIES = 2
"""A side that fails is tried once more in fresh processes before that counts."""
POLICY = Policy(
    name=GATE, processes=1, relative_width=1.0, max_time_s=1.0, warmup_max_s=2.0, energy_windows=0, profile=False
)


@dataclass(frozen=True)
class Terms:
    """What is asked of a gate."""

    metrics: tuple[str, ...] = (LATENCY,)
    margins: Mapping[str, float] = field(default_factory=dict)
    """By metric; the usual ones where it is not named."""
    budget_s: float = 1800.0
    """No block begins after so long."""
    pace: Pace = field(default_factory=Pace)
    timeout_s: float = 900.0

    def margin(self, name: str) -> float:
        return self.margins.get(name, margin_of(name))


@dataclass(frozen=True)
class Block:
    """One observation: both sides, and the old one once more as control."""

    old: Result
    new: Result
    control: Result


class Match:
    """A pair of cases, as far as it has been played."""

    def __init__(self, old: Entrant, new: Entrant, terms: Terms) -> None:
        self.old, self.new, self.terms = old, new, terms
        self.blocks: list[Block] = []
        self.decisions: dict[str, Decision] = {}
        """By metric, as of the last look."""
        self.confirmed: set[str] = set()
        self.old_obstacle: Outcome | None = None
        """How the old side or its control ended, where they could not be measured."""
        self.new_obstacle: Outcome | None = None
        self.tries = 0

    @property
    def is_obstructed(self) -> bool:
        return bool(self.old_obstacle or self.new_obstacle)

    def is_over(self, alarm: float) -> bool:
        """Whether every metric is decided; an alarm must be confirmed and as rare as `alarm` among no changes."""
        return self.is_obstructed or (
            bool(self.decisions) and all(self._is_decided(name, alarm) for name in self.terms.metrics)
        )

    def _is_decided(self, name: str, alarm: float) -> bool:
        decision = self.decisions[name]
        if not self.ratios(name):
            return True  # neither side has this metric, and more blocks will not bring it
        if decision.change is Change.WORSE:
            return name in self.confirmed and decision.p_value is not None and decision.p_value <= alarm
        return decision.change is not Change.AMBIGUOUS

    def prepare(self) -> None:
        """Exports and references; what fails is tried once more."""
        for _ in range(TRIES):
            old, new = (prepare(entrant, POLICY, self.terms.timeout_s) for entrant in (self.old, self.new))
            self._note(old, new)
            if not self.is_obstructed:
                return

    def play(self) -> None:
        """One more block; where a side fails in two of them running, that is the result."""
        for _ in range(TRIES):
            block = self._block()
            control = block.control.outcome
            self._note(control if block.old.outcome.status is Status.OK else block.old.outcome, block.new.outcome)
            if not self.is_obstructed:
                self.blocks.append(block)
                return

    def _block(self) -> Block:
        """Old and new are loaded first in turns: what is loaded second finds the files in memory."""
        self.tries += 1
        swapped = self.tries % 2 == 0
        entrants = (self.new, self.old, self.old) if swapped else (self.old, self.new, self.old)
        first, second, control = run_block(entrants, POLICY, self.terms.pace, self.terms.timeout_s)
        return Block(second, first, control) if swapped else Block(first, second, control)

    def _note(self, old: Outcome, new: Outcome) -> None:
        self.old_obstacle, self.new_obstacle = (None if o.status is Status.OK else o for o in (old, new))

    def look(self) -> None:
        self.decisions = {name: self._decide(name) for name in self.terms.metrics}

    def _decide(self, name: str) -> Decision:
        return decide(self.ratios(name), self.controls(name), self.terms.margin(name), metric(name).direction)

    @property
    def suspects(self) -> tuple[str, ...]:
        """Metrics that looked worse and were not confirmed yet."""
        worse = (name for name, decision in self.decisions.items() if decision.change is Change.WORSE)
        return tuple(name for name in worse if name not in self.confirmed)

    def confirm(self) -> None:
        """What is worse by the fresh blocks alone, and still by all of them, is an alarm; nothing else is decided."""
        for name in self.suspects:
            decision = self._decide(name)
            if decision.change is Change.WORSE and self._agrees(name, decision):
                self.confirmed.add(name)
            else:
                decision = replace(decision, change=Change.AMBIGUOUS)
            self.decisions[name] = decision

    def _agrees(self, name: str, decision: Decision) -> bool:
        """Whether the fresh blocks alone are beyond the margin, on the side where all of them are."""
        fresh, reach = fmean(self.ratios(name)[-CONFIRM:]), math.log1p(self.terms.margin(name))
        side = 1 if decision.ratio and decision.ratio.value > 1 else -1
        return side * fresh > reach

    def ratios(self, name: str) -> list[float]:
        """The log-ratio of each block, new over old."""
        new = self.new.case
        return [ratio for block in self.blocks if (ratio := self._ratio(name, block.old, block.new, new)) is not None]

    def controls(self, name: str) -> list[float]:
        """The same of the old side against itself."""
        old = self.old.case
        return [ratio for b in self.blocks if (ratio := self._ratio(name, b.old, b.control, old)) is not None]

    def _ratio(self, name: str, old: Result, new: Result, new_case: Case) -> float | None:
        """Times and rates from neighbouring turns; what a process gives once, from that."""
        turns = block_ratio(old.turns, new.turns)
        if name == LATENCY:
            return turns
        before, after = _value(name, old, self.old.case), _value(name, new, new_case)
        if name not in RATES or turns is None or not before or not after:
            return None if before is None or after is None else block_ratio([[before]], [[after]])
        times = [_value(LATENCY, result, self.old.case) or 0.0 for result in (old, new)]
        work = block_ratio([[before * times[0]]], [[after * times[1]]])
        return None if work is None else work - turns

    def values(self, name: str) -> tuple[float | None, float | None]:
        """The metric of both sides: the median over their blocks."""
        old = [value for block in self.blocks if (value := _value(name, block.old, self.old.case)) is not None]
        new = [value for block in self.blocks if (value := _value(name, block.new, self.new.case)) is not None]
        return median(old) if old else None, median(new) if new else None

    @property
    def state(self) -> str:
        """One line on how it stands; nothing is decided by it."""
        for side, outcome in (("old", self.old_obstacle), ("new", self.new_obstacle)):
            if outcome:
                return f"the {side} side is {outcome.status.value}: {outcome.reason}"
        known = ((name, self.ratios(name)) for name in self.terms.metrics)
        return ", ".join(f"{name} x{math.exp(fmean(ratios)):.3f}" for name, ratios in known if ratios)


def _value(name: str, result: Result, case: Case) -> float | None:
    """Any metric that a record of this one process would have."""
    return assemble("", case, [result.outcome], datetime.now(UTC), 0.0).value(name)
