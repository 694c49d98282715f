"""`dyno recommend` and `dyno configure` from the command line: real workers, a real store, the program really run."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow

RUN = ("run", "tiny-bert", "--on", "cpu", "--runtime", "onnxruntime,torch", "--shape", "seq=64", "--batch", "8,16")


def test_from_a_run_to_a_program(dyno, tmp_path: Path) -> None:
    done = dyno(*RUN, "--quick", "--samples", "64")
    assert done.returncode == 0, done.stderr

    advice = json.loads(dyno("recommend", "tiny-bert", "--available", "--measured", "--json").stdout)
    measured = [one for one in advice["candidates"] if one["evidence"] == "measured"]
    assert len(measured) == 4
    assert advice["choice"]["value"] == min(one["value"] for one in measured)
    assert advice["choice"]["here"]
    assert 0 <= advice["risk"] <= 1

    asked = ("configure", "tiny-bert", "--on", "cpu", "--slo", "p90=10s", "--runtime", "onnxruntime")
    done = dyno(*asked, "--output", "serve.py", "--json")
    assert done.returncode == 0, done.stderr
    settings = json.loads(done.stdout)["settings"]
    assert settings["runtime"]["value"] == "onnxruntime"
    size = settings["batch"]["value"]
    again = dyno(*asked, "--output", "serve.py")
    assert (again.returncode, "--force" in again.stderr) == (2, True)

    answered = subprocess.run(
        [sys.executable, "serve.py"], cwd=tmp_path, capture_output=True, text=True, check=False, timeout=120
    )
    assert answered.returncode == 0, answered.stderr
    assert f"out: {{'logits': ({size}, 64, 1000)}}" in answered.stdout


def test_a_search_measures_what_is_missing(dyno) -> None:
    asked = (
        "configure",
        "tiny-bert",
        "--on",
        "cpu",
        "--runtime",
        "onnxruntime",
        "--shape",
        "seq=8",
        "--slo",
        "p90=1us",
    )
    nothing = dyno(*asked)
    assert (nothing.returncode, "--search" in nothing.stdout) == (1, True)
    done = dyno(*asked, "--search")
    assert done.returncode == 1, done.stderr
    assert "Nothing keeps p90=0.001ms; nearest is cpu onnxruntime fp32 batch 1" in done.stdout


def test_wrong_words_and_an_empty_store(dyno_here) -> None:
    empty = dyno_here("recommend", "tiny-bert")
    assert (empty.returncode, "dyno run tiny-bert --quick" in empty.stdout) == (1, True)
    for words, said in (
        (("recommend", "no-such-model"), "no-such-model"),
        (("recommend", "tiny-bert", "--goal", "speed"), "known: cost"),
        (("recommend", "tiny-bert", "--max-memory", "8"), "8GB"),
        (("recommend", "tiny-bert", "--prices", "nowhere.yaml"), "nowhere.yaml"),
        (("recommend",), "--map"),
        (("recommend", "tiny-bert", "--map"), "leave out one"),
        (("configure", "tiny-bert", "--on", "toaster"), "toaster"),
        (("configure", "tiny-bert", "--on", "cpu:x"), "cpu:0"),
        (("configure", "tiny-bert", "--on", "cpu", "--runtime", "openvino"), "known: onnxruntime"),
    ):
        wrong = dyno_here(*words)
        assert (wrong.returncode, said in wrong.stderr) == (2, True), wrong
