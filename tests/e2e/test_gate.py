"""The gate with real processes, real commits and real installations."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import Dyno
from modeldyno.ci.report import GateReport

WORK = "workload: fault-none\nmodel: tiny-bert\non: cpu\nruntime: onnxruntime\nbatch: {batch}\n"
"""A runtime that is imported in no time: these processes are many, and none needs a model."""


@pytest.fixture
def suites(tmp_path: Path) -> Path:
    for name, text in {
        "a.yaml": WORK.format(batch=1),
        "slower.yaml": WORK.format(batch=2),
        "broken.yaml": WORK.format(batch=1).replace("fault-none", "fault-segfault"),
        "two.yaml": WORK.format(batch="[1, 2]"),
        "model.yaml": "model: tiny-bert\non: cpu\nruntime: onnxruntime\nseq: 16\n",
        "wrong.yaml": "model: tiny-bert\non: cpu\nruntime: onnxruntime\nseq: 16\noptions: {extra_work: 99}\n",
    }.items():
        (tmp_path / name).write_text(text)
    return tmp_path


SHORT = ("--rounds", "3", "--turn", "0.03")


def report_of(done: subprocess.CompletedProcess[str]) -> GateReport:
    return GateReport.model_validate_json(done.stdout)


def test_twice_the_work_is_a_confirmed_regression_and_is_kept(dyno: Dyno, suites: Path) -> None:
    done = dyno(
        "gate", "--a", "suite=a.yaml", "--b", "suite=slower.yaml", "--json", "--keep", "--output", "out.json", *SHORT
    )
    report = report_of(done)
    (case,) = report.cases
    assert (done.returncode, report.verdict.value) == (1, "regression")
    assert case.regression
    assert case.confirmed
    assert 1.5 < (case.ratio.low or 0) < (case.ratio.high or 0) < 2.6
    assert report.control
    assert report.control.noise > 0
    assert json.loads((suites / "out.json").read_text()) == json.loads(done.stdout)
    shown = json.loads(dyno("show", "all", "--json").stdout)
    assert sorted(record["case"]["batch"] for record in shown["records"]) == [1, 2]
    assert all(len(record["samples"]) == report.blocks for record in shown["records"])


def test_the_same_on_both_sides_is_never_an_alarm(dyno: Dyno, suites: Path) -> None:
    again = f"python={sys.executable},suite=a.yaml"
    done = dyno("gate", "--a", "suite=a.yaml", "--b", again, "--margin", "0.9", "--json", *SHORT)
    assert (done.returncode, report_of(done).cases[0].change.value) == (0, "same"), done.stderr


def test_a_spent_budget_is_undecided(dyno: Dyno, suites: Path) -> None:
    done = dyno("gate", "--a", "suite=a.yaml", "--b", "suite=slower.yaml", "--budget", "1", "--json")
    assert (done.returncode, report_of(done).verdict.value) == (3, "undecided")


def test_what_only_the_new_side_cannot_run_is_a_regression(dyno: Dyno, suites: Path) -> None:
    done = dyno("gate", "--a", "suite=a.yaml", "--b", "suite=broken.yaml", "--json")
    assert done.returncode == 1
    assert report_of(done).cases[0].note == "the new side is failed: the worker crashed (SIGSEGV)"


def test_a_model_that_only_the_new_side_fails_on_is_not_blamed_on_the_old_one(dyno: Dyno, suites: Path) -> None:
    done = dyno("gate", "--a", "suite=model.yaml", "--b", "suite=wrong.yaml", "--json")
    (case,) = report_of(done).cases
    assert (done.returncode, case.regression) == (1, True), done.stderr
    assert "extra_work is a share from 0 to 10" in (case.note or "")


def test_a_side_that_cannot_be_measured_is_undecided(dyno: Dyno, suites: Path) -> None:
    done = dyno("gate", "--a", "suite=broken.yaml", "--b", "suite=a.yaml", "--json")
    assert (done.returncode, report_of(done).cases[0].change.value) == (3, "ambiguous")


def test_commits_of_a_repository_are_held_against_each_other(dyno: Dyno, tmp_path: Path) -> None:
    """A plug-in that got slower: each side's workers import the code of their own commit."""
    source = tmp_path / "src"
    (source / "dyno_speed-1.0.dist-info").mkdir(parents=True)
    (source / "dyno_speed-1.0.dist-info" / "METADATA").write_text(
        "Metadata-Version: 2.1\nName: dyno-speed\nVersion: 1.0\n"
    )
    (source / "dyno_speed-1.0.dist-info" / "entry_points.txt").write_text(
        "[modeldyno.workloads]\nspeed = dyno_speed:MEMBER\n"
    )

    def git(*words: str) -> None:
        identity = ["-c", "user.name=n", "-c", "user.email=e@example.org"]
        subprocess.run(["git", *identity, *words], cwd=tmp_path, check=True, capture_output=True)

    git("init", "-q")
    for tag, amount in (("fast", 10_000), ("slow", 20_000)):
        (source / "dyno_speed.py").write_text(
            "from modeldyno.core.types import Outcome, Passport, Status\n"
            "from modeldyno.measure import loop\n"
            "class Speed:\n"
            "    name = 'speed'\n"
            "    def run(self, bench):\n"
            f"        step = lambda: sum(range({amount}))\n"
            "        samples = loop.sample(bench.session, step, bench.policy, bench.process, bench.turns)\n"
            "        return Outcome(status=Status.OK, device=bench.session.device, samples=samples,\n"
            "                       passport=Passport.of(()))\n"
            "MEMBER = Speed()\n"
        )
        git("add", "src")
        git("commit", "-qm", tag)
        git("tag", tag)
    path = os.pathsep.join([str(source), os.environ["PYTHONPATH"]])
    options = ["tiny-bert", "--on", "cpu", "--runtime", "onnxruntime", "--workload", "speed", "--json", *SHORT]
    environment = {"env": {**os.environ, "PYTHONPATH": path}}
    done = dyno("gate", "--a", "commit=fast", "--b", "commit=slow", *options, **environment)
    assert done.returncode == 1, done.stderr
    assert 1.5 < (report_of(done).cases[0].ratio.value or 0) < 2.6
    trees = subprocess.run(["git", "worktree", "list"], cwd=tmp_path, check=True, capture_output=True, text=True).stdout
    assert len(trees.splitlines()) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("tiny-bert",), "Nothing to compare"),
        (("--b", "commit=nowhere", "tiny-bert"), "There is no commit nowhere"),
        (("--b", "python=a.yaml", "tiny-bert"), "is no Python"),
        (("--b", "branch=main", "tiny-bert"), "Unknown part of --b 'branch'"),
        (("--b", "suite=", "tiny-bert"), "write for example --b suite=VALUE"),
        (("--a", "suite=a.yaml", "--b", "suite=two.yaml"), "give suites whose cases pair up"),
        (("--a", "suite=a.yaml", "--b", "suite=a.yaml", "--margin", "2"), "is not a share"),
        (("--a", "suite=a.yaml", "--b", "suite=a.yaml", "--margin", "energy_j=0.1"), "is not a share"),
        (("--a", "suite=a.yaml", "--b", "suite=a.yaml", "--metric", "latency"), "did you mean"),
        (("--history", "latest", "--a", "suite=a.yaml"), "--history judges a stored run"),
        (("--a", "suite=a.yaml", "--b", "suite=a.yaml", "tiny-bert"), "leave out tiny-bert"),
        (("--a", "suite=a.yaml", "--b", "suite=a.yaml", "--output", "no/where.json"), "choose another --output"),
        (("--b", "python=/bin/true", "tiny-bert"), "cannot run this modeldyno"),
    ],
)
def test_wrong_input_is_a_sentence(dyno_here: Dyno, suites: Path, arguments: tuple[str, ...], words: str) -> None:
    done = dyno_here("gate", *arguments)
    assert done.returncode == 2, done.stderr
    assert words in done.stderr
    assert "Traceback" not in done.stderr


def test_the_latest_run_is_judged_by_its_history(dyno: Dyno, dyno_here: Dyno, tmp_path: Path) -> None:
    """Runs of results from elsewhere serve as history: their values are known."""

    def keep(day: int, latency: float) -> None:
        row = {"model": "m", "platform": "cpu", "latency_ms": latency, "timestamp": f"2026-01-{day:02}T00:00:00Z"}
        (tmp_path / "row.json").write_text(json.dumps([row]))
        assert dyno_here("db", "import", "row.json").returncode == 0

    for day, latency in enumerate([10.0, 10.1, 9.9, 10.05, 9.95, 10.02], 1):
        keep(day, latency)
    calm = dyno_here("gate", "--history", "latest", "--margin", "0.1", "--json")
    assert (calm.returncode, report_of(calm).cases[0].change.value) == (0, "same"), calm.stderr
    keep(7, 14.0)
    done = dyno("gate", "--history", "latest", "--json")
    assert (done.returncode, report_of(done).kind) == (1, "history")
    (case,) = report_of(done).cases
    assert case.regression
    assert not case.confirmed
    assert case.candidate == 14.0
    keep(8, 14.1)
    keep(9, 13.9)
    assert report_of(dyno_here("gate", "--history", "latest", "--json")).cases[0].confirmed
    too_new = dyno_here("gate", "--history", "latest", "--metric", "memory_peak_mb")
    assert too_new.returncode == 2
    assert "has no result with memory_peak_mb" in too_new.stderr


def test_a_case_that_broke_is_a_regression_of_its_run(dyno: Dyno, tmp_path: Path) -> None:
    case = ("tiny-bert", "--on", "cpu", "--runtime", "onnxruntime", "--workload", "fault-told")
    measure = ("run", *case, "--processes", "1", "--samples", "3")
    assert dyno(*measure).returncode == 0
    assert dyno("gate", "--history", "latest").returncode == 3
    assert dyno(*measure, env={**os.environ, "FAULT_NOW": "1"}).returncode == 1
    done = dyno("gate", "--history", "latest", "--json")
    (case,) = report_of(done).cases
    assert (done.returncode, case.regression, case.note) == (1, True, "it worked before and is failed now")
