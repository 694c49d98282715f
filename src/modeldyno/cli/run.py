"""`dyno run`: measure models, or the cases of a suite, and keep every result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._cases import CaseWords, Targets, TimeoutOption, case_suite, naming_cases
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.core.types import Record, Run
    from modeldyno.store.store import Store


@naming_cases
def run(
    targets: Targets = None,
    words: CaseWords = CaseWords(),
    quick: Annotated[bool, typer.Option("--quick", help="One process, wider intervals, no energy.")] = False,
    publish: Annotated[bool, typer.Option("--publish", help="Five processes and a long cap.")] = False,
    processes: Annotated[int | None, typer.Option(min=1, help="Fresh processes per case.")] = None,
    samples: Annotated[int | None, typer.Option(min=3, help="Exactly this many samples per process.")] = None,
    energy: Annotated[bool | None, typer.Option("--energy/--no-energy", help="Energy pass (15 s a case).")] = None,
    timeout: TimeoutOption = 900.0,
    output: Annotated[Path | None, typer.Option(help="Write the records to this NDJSON file as well.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show the plan and stop.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with an interrupted run.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Measure models on the hardware here and keep every result."""
    from modeldyno.cli._invocation import command_line
    from modeldyno.runner.attempt import changes_of_policy, new_run

    suite = None if resume and not targets else case_suite(targets, words)
    opened, effort, cases = _opened(store), _effort(quick, publish), suite.cases() if suite else ()
    changes = changes_of_policy(processes, samples, energy)
    wanted = new_run(cases, effort, changes, command_line(), suite.name or None if suite else None)
    job = _Job(opened, wanted, timeout, output, resume)
    if dry_run:
        job.show_plan(json)
        return
    job.measure()
    job.report(json)
    if not any(record.status.value == "ok" for record in job.records):
        raise typer.Exit(1)


def _opened(option: str | None) -> Store:
    """The store that is meant, or the server; what waits for it is sent first."""
    import os

    from modeldyno.cli._print import print_note, print_warning
    from modeldyno.runner.remote import RemoteStore, is_address

    if not is_address(address := option or os.environ.get("DYNO_STORE", "")):
        return open_store(option)
    store = RemoteStore.named(address)
    if problem := store.check():
        print_warning(problem)
        return store
    report = store.fold()
    if waited := report.new["record"]:
        print_note(f"{waited} results waited in {store.spool}; {store.url} has them now.")
    for sentence in report.torn:
        print_warning(sentence)
    return store


def _effort(quick: bool, publish: bool) -> str:
    from modeldyno.core.errors import InputError

    if quick and publish:
        raise InputError("--quick and --publish exclude each other; give one of them.")
    return "quick" if quick else "publish" if publish else "default"


def _unfinished(store: Store, wanted: Run) -> tuple[Run, list[Record]]:
    """The newest run with cases left, of the same plan when one was given, and its records."""
    from modeldyno.core.errors import InputError
    from modeldyno.store.query import Filter

    others: list[Run] = []
    for run in store.runs() if store.path.exists() else []:
        if run.host.host_id != wanted.host.host_id or store.is_running(run):
            continue
        records = store.records(Filter(run_id=(run.run_id,)))
        if len({record.case for record in records}) == len(run.plan):
            continue
        if not wanted.plan or run.plan_digest == wanted.plan_digest:
            return run, records
        others.append(run)
    if others:
        raise InputError(
            f"The interrupted run was started with other cases or effort ({others[0].command}); "
            "go on with it by --resume alone, or leave out --resume to start a new one."
        )
    raise InputError("No interrupted run to go on with; leave out --resume to start a new one.")


def _ranked(workload: str) -> bool:
    """Whether less time is better, whatever else differs; not so under a load that was searched for."""
    from modeldyno.workloads import WORKLOADS

    return bool(getattr(WORKLOADS.get(workload), "ranked", True))


class _Job:
    """One run from plan to report."""

    def __init__(self, store: Store, wanted: Run, timeout: float, output: Path | None, resume: bool) -> None:
        from modeldyno.runner.attempt import Attempt

        self._store, self._output = store, output
        run, kept = _unfinished(store, wanted) if resume else (wanted, [])
        self._attempt = Attempt(store, run, timeout, kept)

    @property
    def records(self) -> list[Record]:
        return self._attempt.records

    def show_plan(self, json: bool) -> None:
        from modeldyno.cli._print import print_json, print_line, print_table
        from modeldyno.cli._tables import plan_table

        plan, processes = self._attempt.plan, self._attempt.effort.processes
        fates = [(case, "measure") for group in plan.groups for case in group]
        fates += [(case, f"skipped: {outcome.reason}") for case, outcome in plan.skipped]
        if json:
            print_json({"cases": [{**case.model_dump(mode="json"), "plan": fate} for case, fate in fates]})
            return
        print_table(plan_table(fates))
        groups = len(plan.groups)
        print_line(f"{plan.runnable} cases in {groups} groups, {processes} process(es) each; nothing was run.")

    def measure(self) -> None:
        from modeldyno.cli._print import print_warning
        from modeldyno.cli._progress import Progress

        with Progress(self._attempt.left, self._attempt.effort.processes) as progress:
            try:
                self._attempt.measure(progress, print_warning, self._output)
            except KeyboardInterrupt:
                print_warning(f"Interrupted; {len(self.records)} record(s) are kept. Go on with: dyno run --resume")
                raise

    def report(self, json: bool) -> None:
        from modeldyno.analysis.best import best_per_model
        from modeldyno.cli import _tables
        from modeldyno.cli._columns import by_columns
        from modeldyno.cli._print import print_json, print_line, print_table
        from modeldyno.runner.remote import RemoteStore

        rivals = [record for record in self.records if _ranked(record.case.workload)]
        latency = best_per_model(rivals, "latency_ms")
        throughput = best_per_model(rivals, "throughput_per_s")
        if json:
            picks = [
                {
                    "model": best.record.case.model,
                    "metric": best.metric,
                    "value": best.record.value(best.metric),
                    "case": best.record.case.label,
                    "record_id": best.record.record_id,
                    "ties": [record.record_id for record in best.ties],
                    "doubtful": best.doubtful,
                }
                for best in latency + throughput
            ]
            records = [record.model_dump(mode="json") for record in self.records]
            run = self._attempt.run.model_dump(mode="json", exclude={"plan"})
            print_json({"run": run, "records": records, "best": picks})
            return
        measured = [record for record in self.records if record.status.value == "ok"]
        problems = [record for record in self.records if record.status.value != "ok"]
        if problems:
            print_table(_tables.problem_table(problems))
        for columns, group in by_columns(measured, []).items():
            print_table(_tables.record_table(group, columns))
        if latency:
            print_table(_tables.best_table(latency, throughput))
        print_line(f"{len(measured)} of {len(self.records)} cases are ok.")
        run_id = self._attempt.run.run_id
        if isinstance(self._store, RemoteStore):
            print_line(self._store.whereabouts(run_id))
        else:
            print_line(f"Run {run_id} in {self._store.path}; see it again with: dyno show {run_id}")
