"""`dyno run`: measure models, or the cases of a suite, and keep every result."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._cases import CaseWords, Targets, TimeoutOption, case_suite, naming_cases
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.core.types import Record, Run
    from modeldyno.runner.plan import Plan
    from modeldyno.runner.suite import Suite
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
    suite = None if resume and not targets else case_suite(targets, words)
    opened = open_store(store)
    job = _Job(opened, suite, _effort(quick, publish), _settings(processes, samples, energy), timeout, output, resume)
    if dry_run:
        job.show_plan(json)
        return
    job.measure()
    job.report(json)
    if not any(record.status.value == "ok" for record in job.records):
        raise typer.Exit(1)


def _effort(quick: bool, publish: bool) -> str:
    from modeldyno.core.errors import InputError

    if quick and publish:
        raise InputError("--quick and --publish exclude each other; give one of them.")
    return "quick" if quick else "publish" if publish else "default"


def _settings(processes: int | None, samples: int | None, energy: bool | None) -> dict[str, Any]:
    """What the options change of the effort's policy."""
    changes: dict[str, Any] = {}
    if processes is not None:
        changes |= {"processes": processes}
    if processes is not None and processes > 1:
        changes |= {"preload": False}
    if samples is not None:
        changes["samples"] = samples
    if energy is not None:
        changes["energy_windows"] = 3 if energy else 0
    return changes


def _new_run(suite: Suite | None, effort: str, settings: dict[str, Any]) -> Run:
    from modeldyno import __version__
    from modeldyno.cli._invocation import command_line, current_commit
    from modeldyno.core.types import Run
    from modeldyno.measure.host import describe_host

    return Run(
        host=describe_host(),
        name=(suite.name if suite else None) or None,
        command=command_line(),
        version=__version__,
        commit=current_commit(),
        plan=suite.cases() if suite else (),
        effort=effort,
        settings=settings,
    )


def _ranked(workload: str) -> bool:
    """Whether less time is better, whatever else differs; not so under a load that was searched for."""
    from modeldyno.workloads import WORKLOADS

    return bool(getattr(WORKLOADS.get(workload), "ranked", True))


class _Job:
    """One run from plan to report."""

    def __init__(
        self,
        store: Store,
        suite: Suite | None,
        effort: str,
        settings: dict[str, Any],
        timeout: float,
        output: Path | None,
        resume: bool,
    ) -> None:
        from modeldyno.core.policy import policy
        from modeldyno.runner.plan import make_plan

        self.records: list[Record] = []
        self._store, self._timeout, self._output = store, timeout, output
        run = _new_run(suite, effort, settings)
        self._run = self._unfinished(run, bool(suite)) if resume else run
        self._effort = policy(self._run.effort).model_copy(update=self._run.settings)
        finished = {record.case for record in self.records}
        self._plan: Plan = make_plan(case for case in self._run.plan if case not in finished)

    def _unfinished(self, wanted: Run, same_plan: bool) -> Run:
        """The newest run with cases left, of the same plan when one was given."""
        from modeldyno.core.errors import InputError
        from modeldyno.store.query import Filter

        others: list[Run] = []
        for run in self._store.runs() if self._store.path.exists() else []:
            if run.host.host_id != wanted.host.host_id or self._store.is_running(run):
                continue
            records = self._store.records(Filter(run_id=(run.run_id,)))
            if len({record.case for record in records}) == len(run.plan):
                continue
            if not same_plan or run.plan_digest == wanted.plan_digest:
                self.records = records
                return run
            others.append(run)
        if others:
            raise InputError(
                f"The interrupted run was started with other cases or effort ({others[0].command}); "
                "go on with it by --resume alone, or leave out --resume to start a new one."
            )
        raise InputError("No interrupted run to go on with; leave out --resume to start a new one.")

    def show_plan(self, json: bool) -> None:
        from modeldyno.cli._print import print_json, print_line, print_table
        from modeldyno.cli._tables import plan_table

        fates = [(case, "measure") for group in self._plan.groups for case in group]
        fates += [(case, f"skipped: {outcome.reason}") for case, outcome in self._plan.skipped]
        if json:
            print_json({"cases": [{**case.model_dump(mode="json"), "plan": fate} for case, fate in fates]})
            return
        print_table(plan_table(fates))
        groups, processes = len(self._plan.groups), self._effort.processes
        print_line(f"{self._plan.runnable} cases in {groups} groups, {processes} process(es) each; nothing was run.")

    def measure(self) -> None:
        """Outputs are opened first; every record is durable before the next case begins."""
        from modeldyno.cli._print import print_warning
        from modeldyno.cli._progress import Progress
        from modeldyno.cli._recorder import Recorder
        from modeldyno.runner.execute import execute

        total = self._plan.runnable + len(self._plan.skipped)
        with (
            Recorder(self._store, self._run, self._output, bool(self.records)) as recorder,
            Progress(total, self._effort.processes) as progress,
        ):

            def sink(record: Record) -> None:
                recorder.add(record)
                self.records.append(record)
                progress.record(record)

            try:
                execute(self._run.run_id, self._plan, self._effort, self._timeout, sink, progress)
            except KeyboardInterrupt:
                print_warning(f"Interrupted; {len(self.records)} record(s) are kept. Go on with: dyno run --resume")
                raise

    def report(self, json: bool) -> None:
        from modeldyno.analysis.best import best_per_model
        from modeldyno.cli import _tables
        from modeldyno.cli._columns import by_columns
        from modeldyno.cli._print import print_json, print_line, print_table

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
            run = self._run.model_dump(mode="json", exclude={"plan"})
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
        print_line(f"Run {self._run.run_id} in {self._store.path}; see it again with: dyno show {self._run.run_id}")
