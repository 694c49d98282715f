"""What a gate measured, as runs and records for the store: one run for each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modeldyno import __version__
from modeldyno.ci.gate import POLICY, Match
from modeldyno.ci.report import GateReport
from modeldyno.ci.sides import Contender
from modeldyno.core.types import Host, Record, Run
from modeldyno.runner.assemble import assemble


def items(
    contender: Contender, place: int, matches: Sequence[Match], report: GateReport, host: Host
) -> Iterator[Run | Record]:
    """The run of one side (0 is the old one, 1 the new) and a record for each case; a block is a process."""
    run = Run(
        started_at=report.started_at,
        host=host,
        name=f"gate, {'ab'[place]}: {contender.side.name}",
        command=report.command or "",
        version=__version__,
        commit=contender.commit,
        plan=contender.cases,
        effort=POLICY.name,
    )
    yield run
    for match, case in zip(matches, contender.cases, strict=True):
        obstacle = match.obstacles[place]
        outcomes = [block[place].outcome for block in match.blocks] + ([obstacle] if obstacle else [])
        if outcomes:
            yield assemble(run.run_id, case, outcomes, report.started_at, 0.0, len(match.blocks))
