"""What others add: a platform file, a workload from outside, a registered benchmark, the shipped examples."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import modeldyno
from modeldyno import BenchmarkBase, BenchmarkRegistry, BenchmarkRunner
from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.types import Status
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

ROOT = Path(__file__).parents[2]

ABACUS = '''
"""A platform dropped into the folder."""

from modeldyno.core.types import Device, Probe
from modeldyno.platforms.cpu import MEMBER as CPU


class Abacus:
    name = "abacus"
    runtimes = ("torch",)

    def probe(self):
        return Probe(platform=self.name, devices=(Device(platform=self.name, index=0, name="Ten beads"),))

    def refuses(self, case):
        return None if case.runtime in self.runtimes else "beads run torch only"

    def open(self, index):
        session = CPU.open(index)
        session.device = Device(platform=self.name, index=0, name="Ten beads")
        return session


MEMBER = Abacus()
'''


@pytest.mark.slow
def test_a_new_platform_file_is_found_and_judged_with_no_other_edit(tmp_path: Path) -> None:
    package = Path(modeldyno.__file__).parent
    shutil.copytree(package, tmp_path / "modeldyno", ignore=shutil.ignore_patterns("__pycache__"))
    (tmp_path / "modeldyno" / "platforms" / "abacus.py").write_text(ABACUS)
    environment = {**os.environ, "PYTHONPATH": str(tmp_path)}
    run = {"capture_output": True, "text": True, "env": environment, "cwd": tmp_path, "check": False}
    detected = subprocess.run([sys.executable, "-m", "modeldyno", "detect", "--json"], **run)
    found = {platform["platform"]: platform for platform in json.loads(detected.stdout)["platforms"]}
    assert found["abacus"]["devices"][0]["name"] == "Ten beads"
    tests = ROOT / "tests" / "conformance" / "test_platforms.py"
    command = [sys.executable, "-m", "pytest", str(tests), "-k", "abacus", "-p", "no:cacheprovider"]
    judged = subprocess.run(command, **run)
    assert judged.returncode == 0, judged.stdout
    assert "passed" in judged.stdout


@BenchmarkRegistry.register(name="adding", category="arithmetic", hardware=["cpu", "mps"])
class Adding(BenchmarkBase):
    cleaned: list[str] = []

    def setup(self) -> None:
        self.numbers = range(self.params.get("count", 10))

    def execute(self) -> dict[str, object]:
        if self.params.get("fail"):
            raise RuntimeError("no more fingers")
        return {"total": sum(self.numbers)}

    def process_results(self, raw_results: dict[str, object]) -> dict[str, object]:
        return {"metrics": {"latency_ms": [1.0, 2.0, 3.0], **raw_results}, "comment": "done"}

    def cleanup(self) -> None:
        self.cleaned.append("yes")


def test_the_public_api_as_the_plan_prints_it(tmp_path: Path) -> None:
    runner = BenchmarkRunner()
    result = runner.execute("adding", {"hardware": "cpu"})
    assert result.status is Status.OK
    assert result.metrics["latency_ms"].value == 2.0
    assert result.metrics["total"].value == 45.0
    assert json.loads(result.log or "") == {"comment": "done"}
    path = runner.save_results()
    runner.save_results()
    (stored,) = Store(path).records(Filter())
    assert stored == result


def test_a_failing_benchmark_is_a_record_and_is_cleaned_up() -> None:
    before = len(Adding.cleaned)
    result = BenchmarkRunner().execute("adding", {"fail": True})
    assert result.status is Status.FAILED
    assert result.reason == "RuntimeError: no more fingers"
    assert len(Adding.cleaned) == before + 1


def test_absent_or_foreign_hardware_is_skipped() -> None:
    runner = BenchmarkRunner()
    assert runner.execute("adding", {"hardware": "mps"}).status is Status.SKIPPED
    assert "not written for cuda" in (runner.execute("adding", {"hardware": "cuda"}).reason or "")


def test_listing_and_filtering() -> None:
    assert "adding" in {info.name for info in BenchmarkRegistry.list(category="arithmetic", hardware="mps")}
    assert "adding" not in {info.name for info in BenchmarkRegistry.list(hardware="cuda")}
    assert not BenchmarkRegistry.list(category="nothing")


def test_names_cannot_be_taken_over_and_unknown_ones_help() -> None:
    with pytest.raises(InputError, match="belongs to Adding"):
        BenchmarkRegistry.register(name="adding", hardware=["cpu"])(type("Other", (Adding,), {}))
    with pytest.raises(UnknownName, match="did you mean 'adding'"):
        BenchmarkRunner().execute("ading")


def test_a_suite_keeps_entries_of_the_same_name_apart() -> None:
    entry = {"name": "adding", "params": {"count": 3}}
    records = BenchmarkRunner().execute_suite({"benchmarks": [entry, entry, {"name": "adding", "params": {"fail": 1}}]})
    assert [record.status for record in records] == [Status.OK, Status.OK, Status.FAILED]
    assert len({record.record_id for record in records}) == 3


@pytest.mark.slow
def test_the_shipped_examples_run(tmp_path: Path) -> None:
    def example(*arguments: str) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, *arguments]
        return subprocess.run(command, capture_output=True, text=True, cwd=tmp_path, check=False)

    examples = ROOT / "examples"
    done = example(str(examples / "model_benchmark.py"))
    assert done.returncode == 0, done.stderr
    suite = ("--suite", str(examples / "performance_suite.json"), "--output-dir", "results")
    done = example(str(examples / "ci_benchmark.py"), *suite)
    assert done.returncode == 0, done.stderr
    assert len(Store(tmp_path / "results" / "dyno.duckdb").records(Filter())) == 4
    (tmp_path / "nothing.json").write_text(
        '{"benchmarks": [{"name": "matrix_product", "params": {"hardware": "rocm"}}]}'
    )
    assert example(str(examples / "ci_benchmark.py"), "--suite", "nothing.json").returncode == 1
