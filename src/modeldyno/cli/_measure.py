"""Measures single cases for commands that need one number more, and keeps them as any run does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeldyno.core.types import Case, Record
    from modeldyno.store.store import Store


def measure(store: Store, case: Case, samples: int | None, timeout: float) -> Record:
    """A quick run of this one case."""
    from modeldyno import __version__
    from modeldyno.cli._invocation import command_line, current_commit
    from modeldyno.cli._progress import Progress
    from modeldyno.cli._recorder import Recorder
    from modeldyno.core.policy import policy
    from modeldyno.core.types import Run
    from modeldyno.measure.host import describe_host
    from modeldyno.runner.execute import execute
    from modeldyno.runner.plan import make_plan

    settings = {"samples": samples} if samples else {}
    effort = policy("quick").model_copy(update=settings)
    run = Run(
        host=describe_host(),
        command=command_line(),
        version=__version__,
        commit=current_commit(),
        plan=(case,),
        effort=effort.name,
        settings=dict(settings),
    )
    found: list[Record] = []
    with Recorder(store, run, None, False) as recorder, Progress(1, effort.processes) as progress:

        def sink(record: Record) -> None:
            recorder.add(record)
            found.append(record)
            progress.record(record)

        execute(run.run_id, make_plan([case]), effort, timeout, sink, progress)
    return found[0]
