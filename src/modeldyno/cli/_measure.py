"""Measures single cases for commands that need one number more, and keeps them as any run does."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeldyno.core.types import Case, Record
    from modeldyno.store.store import Store


def measure(store: Store, case: Case, samples: int | None, timeout: float) -> Record:
    """A quick run of this one case."""
    from modeldyno.cli._invocation import command_line
    from modeldyno.cli._print import print_warning
    from modeldyno.cli._progress import Progress
    from modeldyno.runner.attempt import Attempt, changes_of_policy, new_run

    run = new_run([case], "quick", changes_of_policy(None, samples or None, None), command_line())
    attempt = Attempt(store, run, timeout)
    with Progress(1, attempt.effort.processes) as progress:
        attempt.measure(progress, print_warning)
    return attempt.records[0]
