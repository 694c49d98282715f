"""The workflow file: valid for GitHub, sound for an auditor, and with as few rights as its jobs need."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from modeldyno.ci.workflow import Workflow
from modeldyno.core.errors import InputError

VARIANTS = [
    Workflow(),
    Workflow(pages=False),
    Workflow("speed.yaml", "bench/my suite.yml", ".[cpu,cuda]", "gpu-host"),
    Workflow(install="modeldyno[cpu] @ git+https://example.test/modeldyno@v1"),
]
PINNED = 'rules: {unpinned-uses: {config: {policies: {"*": ref-pin}}}}\n'


def tool(name: str) -> str:
    """A program of the dev extra."""
    found = shutil.which(name, path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]))
    assert found, f"{name} is missing; install the dev extra"
    return found


def parse(workflow: Workflow) -> dict[Any, Any]:
    document: dict[Any, Any] = yaml.safe_load(workflow.render())
    return document


def audit(file: Path) -> subprocess.CompletedProcess[str]:
    rules = file.with_name("zizmor.yml")
    rules.write_text(PINNED)
    command = [tool("zizmor"), "--offline", "--no-progress", "--config", str(rules), str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


def check(file: Path) -> subprocess.CompletedProcess[str]:
    command = [tool("check-jsonschema"), "--builtin-schema", "vendor.github-workflows", str(file)]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("workflow", VARIANTS, ids=["default", "no pages", "own", "from git"])
def test_it_is_valid_and_sound(tmp_path: Path, workflow: Workflow) -> None:
    file = tmp_path / workflow.name
    file.write_text(workflow.render())
    assert not re.search("@[A-Z]+@", workflow.render())
    for done in (check(file), audit(file)):
        assert done.returncode == 0, done.stdout + done.stderr


def test_the_checks_would_notice(tmp_path: Path) -> None:
    file = tmp_path / "modeldyno.yml"
    file.write_text(Workflow().render().replace("runs-on:", "runs_on:"))
    assert check(file).returncode != 0
    file.write_text(Workflow().render().replace('"$DYNO_SUITE" --a', "${{ github.head_ref }} --a"))
    assert audit(file).returncode != 0


def test_jobs_have_the_rights_they_need_and_no_others() -> None:
    document = parse(Workflow())
    assert document["permissions"] == {}
    rights = {
        name: {right for right, kind in job["permissions"].items() if kind == "write"}
        for name, job in document["jobs"].items()
    }
    assert rights == {
        "gate": set(),
        "comment": {"pull-requests"},
        "daily": set(),
        "issue": {"issues"},
        "publish": {"pages", "id-token"},
    }
    assert all("timeout-minutes" in job for job in document["jobs"].values())
    assert set(document[True]) == {"schedule", "workflow_dispatch", "pull_request"}  # `on` is a boolean in YAML 1.1
    assert "publish" not in parse(Workflow(pages=False))["jobs"]


def test_a_job_that_can_write_runs_nothing_of_the_pull_request() -> None:
    comment = parse(Workflow())["jobs"]["comment"]
    assert "head.repo.full_name == github.repository" in comment["if"]
    (checkout,) = [step for step in comment["steps"] if step.get("uses", "").startswith("actions/checkout")]
    assert checkout["with"]["ref"] == "${{ github.event.pull_request.base.sha }}"
    assert not any("cache" in step.get("with", {}) for step in comment["steps"])


def test_every_script_is_bash_and_every_action_has_its_major_version() -> None:
    steps = [step for job in parse(Workflow())["jobs"].values() for step in job["steps"]]
    for step in steps:
        if "run" in step:
            subprocess.run(["bash", "-n"], input=step["run"], text=True, check=True)
        else:
            assert step["uses"].startswith("actions/")
            assert step["uses"].rpartition("@v")[2].isdigit()


def test_what_is_asked_for_is_in_the_file() -> None:
    document = parse(VARIANTS[2])
    assert document["env"]["DYNO_SUITE"] == "bench/my suite.yml"
    assert document["env"]["DYNO_INSTALL"] == ".[cpu,cuda]"
    assert document["env"]["DYNO_INSTALL_BARE"] == "."
    assert [document["jobs"][name]["runs-on"] for name in ("gate", "daily", "issue")] == [
        "gpu-host",
        "gpu-host",
        "ubuntu-latest",
    ]
    assert ".github/workflows/speed.yaml" in VARIANTS[2].render()


@pytest.mark.parametrize(
    ("install", "to_publish"),
    [
        ("modeldyno[cpu]==0.1.0", "modeldyno[report]==0.1.0"),
        ("modeldyno==0.1.0", "modeldyno[report]==0.1.0"),
        (".[cpu,cuda]", ".[report]"),
        (".", ".[report]"),
        ("modeldyno[cpu] @ git+https://example.org/m.git", "modeldyno[report] @ git+https://example.org/m.git"),
    ],
)
def test_what_publishes_has_what_a_report_needs(install: str, to_publish: str) -> None:
    steps = parse(Workflow(install=install))["jobs"]["publish"]["steps"]
    assert [step["env"]["DYNO_INSTALL_REPORT"] for step in steps if step.get("name") == "Install"] == [to_publish]


@pytest.mark.parametrize(
    "wrong",
    [
        {"suite": "${{ secrets.X }}.yaml"},
        {"suite": "../suite.yaml"},
        {"suite": "/suite.yaml"},
        {"suite": "a.yaml\nb: c"},
        {"suite": 'a" ; rm -rf / ; "'},
        {"suite": ""},
        {"install": "--index-url=evil"},
        {"install": "a; b"},
        {"install": "$(x)"},
        {"runner": "[a, b]"},
        {"runner": "x\ny"},
        {"name": "modeldyno.txt"},
        {"name": "a b.yml"},
    ],
)
def test_what_could_break_out_is_refused(wrong: dict[str, str]) -> None:
    with pytest.raises(InputError, match="cannot be"):
        Workflow(**wrong)  # type: ignore[arg-type]
