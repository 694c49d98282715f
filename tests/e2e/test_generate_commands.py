"""`dyno generate` from the command line: what it writes is really run."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import wave
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image

from modeldyno.platforms import PLATFORMS

ASKED = ("tiny-bert", "--on", "cpu", "--seq", "32")


def python(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, *words], cwd=folder, env=dict(os.environ), capture_output=True, text=True, check=False
    )


def outcomes(folder: Path) -> dict[str, tuple[str, str]]:
    """By test, how it ended and why, of all tests of a folder."""
    done = python(folder, "-m", "pytest", "-p", "no:cacheprovider", "-W", "error", "--junitxml", "told.xml", ".")
    found = {}
    for case in ElementTree.parse(folder / "told.xml").iter("testcase"):
        ended = next((child for child in case if child.tag in ("failure", "error", "skipped")), None)
        name = f"{case.get('classname')}.{case.get('name')}"
        found[name] = ("passed", "") if ended is None else (ended.tag, ended.get("message", ""))
    assert found, done.stdout + done.stderr
    return found


@pytest.mark.slow
def test_generated_tests_pass_skip_and_fail_as_they_should(dyno, tmp_path: Path) -> None:
    done = dyno("run", *ASKED, "--quick", "--json")
    assert done.returncode == 0, done.stderr
    record_id = json.loads(done.stdout)["records"][0]["record_id"]
    folder = tmp_path / "generated"
    told = json.loads(dyno("generate", "test", *ASKED, "--output", str(folder / "test_mine.py"), "--json").stdout)
    assert [one["metric"] for one in told["budgets"]] == ["latency_ms", "memory_peak_mb"]
    assert {one["record_id"] for one in told["budgets"]} == {record_id}
    assert told["text"] == (folder / "test_mine.py").read_text()
    assert record_id in told["text"]
    # The same with a budget that nothing keeps, on a host that is called quiet whatever it is.
    tight = told["text"].replace(f'("at most", {told["budgets"][0]["limit"]})', '("at most", 1e-06)')
    tight = tight.replace("record.passport.concerns", "()")
    (folder / "test_tight.py").write_text(tight)
    dyno("generate", "test", "tiny-bert", "--on", "qnn", "--output", str(folder / "test_elsewhere.py"))

    found = outcomes(folder)
    for name in ("it_runs", "it_ran_on_the_device_asked_for", "the_outputs_are_right"):
        assert found[f"test_mine.test_{name}"][0] == "passed", found
        assert found[f"test_elsewhere.test_{name}"][0] == "skipped", found
    reason = PLATFORMS.get("qnn").probe().reason
    assert reason is not None
    assert reason in found["test_elsewhere.test_it_runs"][1]
    kept = found["test_mine.test_it_keeps_its_budget[memory_peak_mb]"]
    assert kept[0] == "passed" or (kept[0] == "skipped" and "not quiet" in kept[1])
    assert found["test_tight.test_it_keeps_its_budget[latency_ms]"][0] == "failure"
    assert found["test_tight.test_it_keeps_its_budget[memory_peak_mb]"][0] == "passed"


def test_a_suite_is_one_that_run_takes(dyno_here, tmp_path: Path) -> None:
    written = dyno_here("generate", "suite", *ASKED, "--output", "mine.yaml")
    assert (written.returncode, written.stdout) == (0, "Wrote mine.yaml.\n")
    plan = json.loads(dyno_here("run", "mine.yaml", "--dry-run", "--json").stdout)
    assert [case["batch"] for case in plan["cases"]] == [1, 4, 16]
    assert {case["shape"]["seq"] for case in plan["cases"]} == {32}
    again = dyno_here("generate", "suite", *ASKED, "--output", "mine.yaml")
    assert (again.returncode, "--force" in again.stderr) == (2, True)
    assert dyno_here("generate", "suite", *ASKED, "--output", "mine.yaml", "--force").returncode == 0


@pytest.mark.slow
@pytest.mark.parametrize(
    ("model", "runtime", "given", "said", "own"),
    [
        ("tiny-bert", "torch", ("--text", "hello"), "logits: (1, 128, 1000)", False),
        ("tiny-vit", "onnxruntime", ("--image", "picture.png"), "logits: (1, 10)", True),
        ("tiny-whisper", "torch", ("--sound", "sound.wav"), "logits: (1, 8, 1000)", False),
    ],
)
def test_a_skill_answers_to_an_input_of_ones_own(
    dyno_here, tmp_path: Path, model: str, runtime: str, given: tuple[str, str], said: str, own: bool
) -> None:
    Image.fromarray(np.full((20, 30, 3), 200, dtype=np.uint8)).save(tmp_path / "picture.png")
    with wave.open(str(tmp_path / "sound.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(8000)
        file.writeframes((np.sin(np.arange(8000) / 5) * 9000).astype("<i2").tobytes())
    written = dyno_here("generate", "skill", model, "--on", "cpu", "--runtime", runtime, "--output", "skill.py")
    assert written.returncode == 0, written.stderr
    done = python(tmp_path, "skill.py", *given)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout
    assert "the weights are random" in done.stderr
    if not own:
        return
    example = python(tmp_path, "skill.py")
    assert example.returncode == 0, example.stderr
    assert example.stdout != done.stdout


def test_a_skill_for_hardware_that_is_not_here_says_so(dyno_here, tmp_path: Path) -> None:
    assert dyno_here("generate", "skill", "tiny-bert", "--on", "qnn", "--output", "skill.py").returncode == 0
    done = python(tmp_path, "skill.py")
    assert (done.returncode, "qnn is not here" in done.stderr, done.stdout) == (1, True, "")


def test_it_prints_or_tells_as_json_and_refuses_wrong_words(dyno_here) -> None:
    printed = dyno_here("generate", "skill", *ASKED)
    told = json.loads(dyno_here("generate", "skill", *ASKED, "--json").stdout)
    assert set(told) == {"file", "kind", "text", "budgets", "notes"}
    assert (printed.stdout, told["kind"], told["budgets"]) == (told["text"], "skill", [])
    for words, said in (
        (("test", "no-such-model", "--on", "cpu"), "no-such-model"),
        (("suite", "tiny-bert", "--on", "toaster"), "toaster"),
        (("skill", "tiny-bert", "--on", "cpu", "--runtime", "openvino"), "known: onnxruntime"),
        (("test", "tiny-bert", "--on", "cpu", "--shape", "height=3"), "seq"),
        (("test", "tiny-bert", "--on", "cpu", "--shape", "seq"), "NAME=VALUE"),
        (("test", "tiny-bert"), "--on"),
    ):
        wrong = dyno_here("generate", *words)
        assert (wrong.returncode, said in wrong.stderr) == (2, True), wrong
