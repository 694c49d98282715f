"""Whatever goes wrong: one sentence, the right exit code, nothing measured is lost, the rest goes on."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

pytestmark = pytest.mark.slow
WORK = ("run", "tiny-vit", "--on", "cpu", "--runtime", "onnxruntime", "--quick")
"""A runtime that is imported in no time: what breaks here is not the model."""
FAULTS = "fault-segfault,fault-none,fault-kill,fault-memory,fault-raise"


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["run"], "Name a model"),
        (["run", "bert-bse-uncased", "--on", "cpu"], "did you mean 'bert-base-uncased'"),
        (["run", "tiny-bert", "--on", "cdua"], "did you mean 'cuda'"),
        (["run", "tiny-bert", "--precision", "fp4"], "known: bf16, fp16, fp32, int8"),
        (["run", "tiny-bert", "--runtime", "tensorrt"], "onnxruntime"),
        (["run", "tiny-bert", "--batch", "0"], "--batch"),
        (["run", "tiny-bert", "--shape", "seq"], "--shape"),
        (["run", "tiny-bert", "--shape", "seq=8", "--seq", "16"], "give one of them"),
        (["run", "tiny-bert", "--quick", "--publish"], "exclude each other"),
        (["run", "no-such-suite.yaml"], "no-such-suite.yaml"),
        (["run", "--resume"], "No interrupted run"),
        (["show"], "There is no store"),
        (["show", "all", "--batch", "one"], "--batch one is no batch size"),
        (["show", "--store", "http://127.0.0.1:8000"], "only dyno run sends to"),
        (["models", "show", "nonsense"], "Unknown model"),
        (["models", "list", "--family", "text"], "text_generation"),
        (["detect", "--on", "tpu"], "known: cpu, cuda"),
        (["db", "import", "nowhere.ndjson"], "no file nowhere.ndjson"),
        (["run", "tiny-bert", "--on", "cpu", "--store", "/proc/nope/x.duckdb"], "choose another --store"),
    ],
)
def test_wrong_input_is_one_sentence_and_exit_code_2(dyno_here, arguments: list[str], words: str) -> None:
    done = dyno_here(*arguments)
    assert done.returncode == 2
    assert words in done.stderr
    assert "Traceback" not in done.stderr
    assert done.stderr.startswith("Error: ")
    assert done.stdout == ""


def test_the_version_can_be_asked_for(dyno) -> None:
    assert dyno("--version").stdout.strip().count(".") == 2


def test_debug_shows_the_traceback(dyno) -> None:
    assert "Traceback" in dyno("run", "tiny-brt", "--debug").stderr


def test_faults_end_their_case_and_the_others_go_on(dyno) -> None:
    done = dyno(*WORK, "--workload", FAULTS, "--json")
    assert done.returncode == 0
    records = {record["case"]["workload"]: record for record in json.loads(done.stdout)["records"]}
    assert {name: record["status"] for name, record in records.items()} == {
        "fault-segfault": "failed", "fault-none": "ok", "fault-kill": "failed", "fault-memory": "failed",
        "fault-raise": "failed",
    }  # fmt: skip
    assert "SIGSEGV" in records["fault-segfault"]["reason"]
    assert "out of memory" in records["fault-memory"]["reason"]
    assert "on holiday" in dyno("show", "--log", "--status", "failed").stdout


def test_out_of_memory_says_which_batch_fits_and_the_smaller_case_is_measured(dyno) -> None:
    done = dyno(*WORK, "--workload", "fault-large", "--batch", "16,1", "--json")
    large, small = sorted(json.loads(done.stdout)["records"], key=lambda record: -record["case"]["batch"])
    assert large["status"] == "failed"
    assert large["reason"].startswith("out of memory")
    assert large["reason"].endswith(("; batch 4 fits", "; batch 2 fits")), "by what else the process holds"
    assert "--batch" in large["remedy"]
    assert small["status"] == "ok"


def test_a_hang_ends_at_the_time_out(dyno) -> None:
    done = dyno(*WORK, "--workload", "fault-hang,fault-none", "--timeout", "5")
    assert done.returncode == 0
    assert "no result within 5 s" in done.stdout


def test_nothing_succeeded_is_exit_code_1(dyno) -> None:
    assert dyno(*WORK, "--workload", "fault-raise").returncode == 1


def start(folder: Path, *arguments: str) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "modeldyno", *arguments]
    return subprocess.Popen(
        command,
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),  # a job in the background ignores it
    )


def wait_for_records(process: subprocess.Popen[str], count: int) -> None:
    assert process.stderr
    seen = 0
    for line in process.stderr:
        seen += line.startswith("[")
        if seen == count:
            return
    raise AssertionError("the run ended too early")


LONG = (*WORK, "--workload", "fault-none", "--batch", "1,2,3,4,5,6,7,8")


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGKILL], ids=["ctrl-c", "kill -9"])
def test_an_interrupted_run_keeps_its_records_and_resumes(dyno, dyno_here, tmp_path: Path, end: signal.Signals) -> None:
    process = start(tmp_path, *LONG)
    wait_for_records(process, 2)
    os.kill(process.pid, end)
    rest = process.communicate()[1]
    if end is signal.SIGINT:
        assert process.returncode == 130
        assert "Go on with: dyno run --resume" in rest
        assert "Traceback" not in rest
    shown = dyno("show", "--json")
    assert ("waited in" in shown.stderr) == (end is signal.SIGKILL), "what was mended is told"
    kept = json.loads(shown.stdout)["records"]
    assert 2 <= len(kept) < 8
    assert "started with other cases" in dyno_here("run", "tiny-vit", "--on", "cpu", "--resume").stderr
    resumed = dyno("run", "--resume", "--json")
    assert resumed.returncode == 0, resumed.stderr
    records = json.loads(dyno_here("show", "all", "--json").stdout)["records"]
    assert sorted(record["case"]["batch"] for record in records) == [1, 2, 3, 4, 5, 6, 7, 8]
    assert {record["run_id"] for record in records} == {kept[0]["run_id"]}
    assert {r["record_id"] for r in kept} <= {r["record_id"] for r in records}
    assert {len(record["samples"]) for record in records} == {1}, "resumed with another effort"
    assert dyno_here("run", "--resume").returncode == 2


@pytest.mark.skipif(os.geteuid() != 0 or not shutil.which("unshare"), reason="mounting a small disk needs root")
def test_a_full_disk_loses_nothing(tmp_path: Path) -> None:
    """A real file system of 200 KB that fills up in the middle of the run: the records are rescued elsewhere."""
    (tmp_path / "disk").mkdir()
    script = f"""
        mount -t tmpfs -o size=200k tmpfs {tmp_path}/disk || exit 77
        dd if=/dev/zero of={tmp_path}/disk/ballast bs=1k count=190 status=none
        exec {sys.executable} -m modeldyno {" ".join(LONG)} --store {tmp_path}/disk/s.duckdb
    """
    environment = {**os.environ, "TMPDIR": str(tmp_path)}
    done = subprocess.run(
        ["unshare", "-m", "bash", "-c", script], capture_output=True, text=True, env=environment, check=False
    )
    if done.returncode == 77:
        pytest.skip("this sandbox cannot mount")
    assert done.returncode == 1
    assert "No space left on device" in done.stderr
    assert "dyno db import" in done.stderr
    rescued = [json.loads(line) for path in tmp_path.glob("dyno-rescued-*") for line in path.read_text().splitlines()]
    assert sum(item["kind"] == "record" for item in rescued) == 8
    assert "Traceback" not in done.stderr


def at_work_in(folder: Path) -> list[psutil.Process]:
    found = []
    for process in psutil.process_iter():
        with contextlib.suppress(psutil.Error):
            if process.cwd() == str(folder) and process.status() != psutil.STATUS_ZOMBIE:
                found.append(process)
    return found


@pytest.mark.parametrize("workload", ["fault-none", "fault-hang"])
def test_no_worker_outlives_a_killed_run(tmp_path: Path, workload: str) -> None:
    process = start(tmp_path, *WORK, "--workload", workload)
    deadline = time.monotonic() + 60
    while len(at_work_in(tmp_path)) < 3 and time.monotonic() < deadline:  # the run, its nursery and a worker
        time.sleep(0.05)
    process.kill()
    process.communicate()
    while at_work_in(tmp_path) and time.monotonic() < deadline:
        time.sleep(0.1)
    assert at_work_in(tmp_path) == []
