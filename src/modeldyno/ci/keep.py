"""What a gate measured, as runs and records for the store: one run for each side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from modeldyno import __version__
from modeldyno.ci.match import POLICY, Match
from modeldyno.ci.sides import Contender
from modeldyno.core.types import Host, Record, Run
from modeldyno.runner.assemble import assemble


def items(
    contender: Contender, is_new: bool, matches: Sequence[Match], host: Host, command: str
) -> Iterator[Run | Record]:
    """The run of one side and a record for each of its cases; a block is a process."""
    run = Run(
        host=host,
        name=f"gate, {'new' if is_new else 'old'} side: {contender.side.name}",
        command=command,
        version=__version__,
        commit=contender.commit,
        plan=tuple((match.new if is_new else match.old).case for match in matches),
        effort=POLICY.name,
    )
    yield run
    for match, case in zip(matches, run.plan, strict=True):
        obstacle = match.new_obstacle if is_new else match.old_obstacle
        outcomes = [(block.new if is_new else block.old).outcome for block in match.blocks]
        outcomes += [obstacle] if obstacle else []
        if outcomes:
            yield assemble(run.run_id, case, outcomes, run.started_at, 0.0, len(match.blocks))
