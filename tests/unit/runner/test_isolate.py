"""Real worker processes that really crash, hang and run out of memory: one case ends, the run goes on."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

from modeldyno.core.policy import Policy
from modeldyno.core.types import Case, Outcome, Record, Status
from modeldyno.runner.execute import execute
from modeldyno.runner.isolate import run_job
from modeldyno.runner.job import Job
from modeldyno.runner.plan import Plan
from modeldyno.runner.processes import Processes

POLICY = Policy(name="test", processes=1, relative_width=0.5, max_time_s=0.2, warmup_max_s=0.2, min_time_s=0.0)


def case(workload: str, batch: int = 1) -> Case:
    return Case(workload=workload, model="none", platform="cpu", runtime="python", batch=batch)


@pytest.fixture(params=[False, True], ids=["fresh", "forked"])
def outcomes(request: pytest.FixtureRequest) -> Iterator[Callable[..., list[tuple[Case, Outcome]]]]:
    """Both ways to make a worker process must hold the same promises."""
    with Processes(preload=request.param) as processes:

        def run(*cases: Case, timeout_s: float = 60.0) -> list[tuple[Case, Outcome]]:
            job = Job(cases=cases, policy=POLICY)
            return list(run_job(job, processes, timeout_s, lambda case, text: None))

        yield run


@pytest.mark.parametrize(
    ("workload", "words"),
    [
        ("fault-segfault", "crashed (SIGSEGV)"),
        ("fault-kill", "killed (SIGKILL), most likely out of memory"),
        ("fault-memory", "out of memory"),
        ("fault-raise", "RuntimeError: the kernel went on holiday"),
        ("fault-exit", "ended without a result (exit code 7)"),
    ],
)
def test_a_fault_is_a_failed_outcome_that_says_what_happened(outcomes, workload: str, words: str) -> None:
    ((_, outcome),) = outcomes(case(workload))
    assert outcome.status is Status.FAILED
    assert words in (outcome.reason or "")
    assert outcome.remedy


def test_a_hang_is_killed_at_the_time_out(outcomes) -> None:
    ((_, outcome),) = outcomes(case("fault-hang"), timeout_s=4.0)
    assert outcome.status is Status.FAILED
    assert "no result within 4 s: killed" in (outcome.reason or "")


def test_a_crash_in_the_middle_of_a_group_ends_one_case_only(outcomes) -> None:
    cases = [case("fault-some", batch) for batch in (1, 2, 3)]
    found = outcomes(*cases)
    assert [one for one, _ in found] == cases
    assert [outcome.status for _, outcome in found] == [Status.OK, Status.FAILED, Status.OK]


def test_an_unknown_workload_and_a_missing_package_end_the_case_with_a_reason(outcomes) -> None:
    ((_, outcome),) = outcomes(case("no-such-workload"))
    assert outcome.status is Status.FAILED
    assert "Unknown workload" in (outcome.reason or "")


def test_every_process_measures_and_the_record_holds_all_samples() -> None:
    records: list[Record] = []
    policy = POLICY.model_copy(update={"processes": 3})
    execute("run", Plan(((case("fault-none"),),), ()), policy, 60.0, records.append, Silent())
    (record,) = records
    assert record.status is Status.OK
    assert [samples.process for samples in record.samples] == [0, 1, 2]
    assert record.metrics["latency_ms"].n == sum(len(s.host_ms) for s in record.samples)


def test_what_fails_is_not_repeated() -> None:
    records: list[Record] = []
    policy = POLICY.model_copy(update={"processes": 3})
    notes = Silent()
    execute("run", Plan(((case("fault-raise"),),), ()), policy, 60.0, records.append, notes)
    assert [record.status for record in records] == [Status.FAILED]
    assert {process for process, _ in notes.seen} == {0}


def test_an_interrupt_keeps_what_was_measured(tmp_path: Path) -> None:
    """Ctrl-C in the second process: the first one's samples become a record, and no worker is left."""
    script = textwrap.dedent("""
        import sys
        sys.path.insert(0, sys.argv[1])
        from test_isolate import POLICY, Silent, case
        from modeldyno.runner.execute import execute
        from modeldyno.runner.plan import Plan

        class Loud(Silent):
            def note(self, process, case, text):
                print("process", process, text, flush=True)

        policy = POLICY.model_copy(update={"processes": 50})
        try:
            execute("run", Plan(((case("fault-none"),),), ()), policy, 60.0,
                    lambda record: print("record", len(record.samples), record.status, flush=True), Loud())
        except KeyboardInterrupt:
            print("interrupted", flush=True)
    """)
    command = [sys.executable, "-c", script, str(Path(__file__).parent)]
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )
    assert process.stdout
    for line in process.stdout:
        if line.startswith("process 1"):
            break
    os.kill(process.pid, signal.SIGINT)
    rest = process.stdout.read()
    process.stdout.close()
    process.wait()
    assert "ok" in rest
    assert "record" in rest
    assert rest.strip().endswith("interrupted")
    left = [p for p in psutil.process_iter(["cwd"]) if p.info["cwd"] == str(tmp_path)]
    assert left == []


class Silent:
    def __init__(self) -> None:
        self.seen: list[tuple[int, str]] = []

    def note(self, process: int, case: Case, text: str) -> None:
        self.seen.append((process, text))
