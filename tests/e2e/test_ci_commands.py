"""`dyno ci ...` and `dyno generate workflow` as people and jobs call them."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import typer.main

from conftest import Dyno
from fake_github import TOKEN, FakeGitHub, Fault, fake_github
from gate_reports import gate_report, slower, verdict
from modeldyno.ci.report import CaseVerdict
from modeldyno.ci.workflow import Workflow
from modeldyno.cli import build


def report(first: Callable[..., CaseVerdict], name: str, *others: str) -> str:
    """What a gate wrote about one chip, against one commit."""
    cases = [first(name, device="Chip"), *(verdict(other, device="Chip") for other in others)]
    return gate_report(*cases, baseline_commit="a" * 40).model_dump_json()


@pytest.fixture
def hub() -> Iterator[FakeGitHub]:
    with fake_github() as running:
        yield running


@pytest.fixture
def place(hub: FakeGitHub, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder and environment of a job of GitHub Actions for pull request 5, with the report of a gate."""
    for name in [name for name in os.environ if name.startswith(("GITHUB_", "GH_"))]:
        monkeypatch.delenv(name)
    inside = {**hub.environment(), "GITHUB_REF": "refs/pull/5/merge", "NO_PROXY": "127.0.0.1"}
    for name, value in inside.items():
        monkeypatch.setenv(name, value)
    (tmp_path / "gate.json").write_text(report(slower, "bert", "vit"))
    return tmp_path


@pytest.fixture
def job(place: Path, dyno_here: Dyno, monkeypatch: pytest.MonkeyPatch) -> Dyno:
    """The command there, with changes of the environment; it never tells the token."""

    def run(*arguments: str, **changes: str) -> subprocess.CompletedProcess[str]:
        with monkeypatch.context() as patched:
            for name, value in changes.items():
                patched.setenv(name, value)
            done = dyno_here(*arguments)
        assert TOKEN not in done.stdout + done.stderr
        assert "Traceback" not in done.stderr
        return done

    return run


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_help_imports_little() -> None:
    for group, commands in {"ci": ("comment", "issue"), "generate": ("workflow",)}.items():
        code = f"import sys; sys.argv = ['dyno', {group!r}, '--help']\nfrom modeldyno.cli import main\ntry: main()\n"
        code += "except SystemExit: pass\nheavy = {'urllib.request', 'duckdb', 'numpy', 'scipy', 'torch'}\n"
        code += "print(sorted(heavy & set(sys.modules)))"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]"
        assert all(command in done.stdout for command in commands)


def test_the_comment_is_created_and_updated_in_place(dyno: Dyno, job: Dyno, hub: FakeGitHub, tmp_path: Path) -> None:
    hub.faults = [Fault("POST", 502, after=True)]
    made = answer(dyno("ci", "comment", "gate.json", "--json"))
    assert (made["action"], made["pull_request"]) == ("created", 5)
    assert made["url"] == hub.comments[0]["html_url"]
    assert hub.bodies(5) == [made["body"]]
    (tmp_path / "gate.json").write_text(gate_report(verdict("bert")).model_dump_json())
    assert job("ci", "comment", "gate.json").stdout == f"updated: {made['url']}\n"
    (body,) = hub.bodies(5)
    assert "No regression" in body
    assert job("ci", "comment", "gate.json", "--name", "gpu", "--pr", "6").returncode == 0
    assert len(hub.bodies(5)) == len(hub.bodies(6)) == 1


def test_without_a_token_it_prints_and_sends_nothing(job: Dyno, hub: FakeGitHub) -> None:
    bare = {"GITHUB_TOKEN": "", "GITHUB_REF": ""}
    done = job("ci", "comment", "gate.json", **bare)
    assert done.returncode == 0
    assert done.stdout.startswith("<!-- modeldyno:comment:gate -->\n**Regression: 1 of 2 measurements got worse")
    assert done.stderr == "Nothing was sent: neither GITHUB_TOKEN nor GH_TOKEN is set.\n"
    assert answer(job("ci", "comment", "gate.json", "--json", **bare))["pull_request"] is None
    dry = job("ci", "comment", "gate.json", "--dry-run")
    assert (dry.stdout, dry.stderr) == (done.stdout, "")
    issue = job("ci", "issue", "gate.json", **bare)
    assert "Title: Regression: latency_ms of bert\nLabels: performance, regression\n" in issue.stdout
    (text,) = answer(job("ci", "issue", "gate.json", "--dry-run", "--json"))["issues"]
    assert text["labels"] == ["performance", "regression"]
    assert hub.requests == []


def test_refusals_are_one_sentence(job: Dyno, hub: FakeGitHub, tmp_path: Path) -> None:
    bad = job("ci", "comment", "gate.json", GITHUB_TOKEN="ghs_wrong")
    assert bad.returncode == 1
    assert bad.stderr.startswith("Error: GitHub does not accept the token (401 Bad credentials;")
    assert len(bad.stderr.splitlines()) == 1
    assert "wrong" not in bad.stderr
    (tmp_path / "odd.json").write_text("{}")
    for arguments, changes in (
        (("gate.json",), {"GITHUB_REF": "refs/heads/main"}),
        (("gate.json",), {"GITHUB_REPOSITORY": "nobody"}),
        (("missing.json",), {}),
        (("odd.json",), {}),
        (("gate.json", "--name", "-->"), {}),
    ):
        done = job("ci", "comment", *arguments, **changes)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
    assert hub.writes() == []


def test_issues_are_opened_updated_and_closed(job: Dyno, hub: FakeGitHub, tmp_path: Path) -> None:
    assert job("ci", "issue", "gate.json", "--label", "speed").stdout == (
        "opened: Regression: latency_ms of bert: https://github.test/octo/speed/issues/1\n"
    )
    assert hub.issues[0]["labels"] == ["speed"]
    (again,) = answer(job("ci", "issue", "gate.json", "--json"))["issues"]
    assert (again["action"], again["number"], again["case"]) == ("updated", 1, "bert")
    (tmp_path / "gate.json").write_text(report(verdict, "bert"))
    assert "no issue to change" in job("ci", "issue", "gate.json").stdout
    assert job("ci", "issue", "gate.json", "--close-fixed").stdout.startswith("closed: ")
    assert hub.issues[0]["state"] == "closed"


def test_the_workflow_is_written_once(job: Dyno, tmp_path: Path) -> None:
    first = job("generate", "workflow")
    assert first.returncode == 0
    assert "There is no suites/default.yaml here" in first.stderr
    file = tmp_path / ".github" / "workflows" / "modeldyno.yml"
    file.write_text("mine")
    refused = job("generate", "workflow")
    assert (refused.returncode, file.read_text()) == (2, "mine")
    assert "--force" in refused.stderr
    (tmp_path / "own.yaml").write_text("name: own")
    made = answer(job("generate", "workflow", "--force", "--suite", "own.yaml", "--install", ".[cpu]", "--json"))
    assert made["suite"] == "own.yaml"
    assert 'DYNO_SUITE: "own.yaml"' in file.read_text()
    assert job("generate", "workflow", "--suite", "own.yaml", "--output", "own.yaml/x.yml").returncode == 2
    assert job("generate", "workflow", "--suite", "$(x)").returncode == 2


def test_the_sql_of_the_workflow_is_answered(job: Dyno) -> None:
    (query,) = [line.split('"')[1] for line in Workflow().render().splitlines() if "dyno db sql" in line]
    assert job("db", "init", "--sample-data").returncode == 0
    assert answer(job("db", "sql", query, "--json")) == []
    assert answer(job("db", "sql", query.replace("measured", "simulated"), "--json"))


def test_every_command_of_the_workflow_exists_with_its_options() -> None:
    lines = [line.strip() for line in Workflow().render().splitlines()]
    calls = [shlex.split(line[line.index("dyno ") :]) for line in lines if re.match(r"(run: )?dyno ", line)]
    assert {call[1] for call in calls} == {"gate", "ci", "run", "db", "history", "report", "compatibility"}
    for call in calls:
        command: Any = typer.main.get_command(build())
        words = iter(call[1:])
        while hasattr(command, "commands"):
            command = command.commands[next(words)]
        known = {name for parameter in command.params for name in parameter.opts}
        assert {word for word in words if word.startswith("--")} <= known, call
