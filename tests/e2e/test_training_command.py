"""Training from the command line: real workers, real models (the tiny siblings), a real kill."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from statistics import fmean
from typing import Any

import psutil
import pytest

from modeldyno.core.metrics import METRICS

pytestmark = pytest.mark.slow
TRAIN = ("--workload", "training", "--on", "cpu", "--runtime", "torch", "--quick", "--samples", "3", "--json")
STEPS = 80
LONG = ("--option", f"steps={STEPS}", "--option", "lr=0.001")


def records_of(done: subprocess.CompletedProcess[str]) -> list[dict[str, Any]]:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)["records"]


def losses_of(record: dict[str, Any]) -> list[float]:
    return record["samples"][0]["parts"]["loss"]


def test_models_of_several_kinds_learn_on_the_cpu(dyno) -> None:
    names = ("tiny-bert", "tiny-vit", "tiny-whisper")
    done = dyno("run", *names, *TRAIN, "--batch", "8", "--seq", "32", "--option", "steps=60", "--option", "lr=0.002")
    records = records_of(done)
    assert {record["case"]["model"]: record["status"] for record in records} == dict.fromkeys(names, "ok")
    for record in records:
        check_record(record)


def check_record(record: dict[str, Any]) -> None:
    metrics, losses = record["metrics"], losses_of(record)
    assert set(metrics) <= set(METRICS)
    assert len(losses) == 60
    assert fmean(losses[-10:]) < fmean(losses[:10]), record["case"]["model"]
    assert metrics["loss_begin"]["value"] == losses[0]
    assert metrics["loss"]["value"] == pytest.approx(fmean(losses[-6:]))
    assert metrics["validation_loss"]["value"] < metrics["validation_loss_untrained"]["value"]
    for name in ("forward_ms", "backward_ms", "optimizer_ms"):
        assert metrics[name]["value"] > 0
    assert metrics["items"]["value"] == 8
    assert metrics["throughput_per_s"]["value"] == pytest.approx(8e3 / metrics["latency_ms"]["value"])
    if "tokens" in metrics:
        rate = metrics["tokens"]["value"] * 1e3 / metrics["latency_ms"]["value"]
        assert metrics["tokens_per_s"]["value"] == pytest.approx(rate)
    assert record["placement"]["device"] == "cpu"


def test_a_killed_training_goes_on_to_the_same_bits(dyno, tmp_path: Path) -> None:
    folder, other = tmp_path / "kept", tmp_path / "other"
    case = ["tiny-opt", *TRAIN, *LONG, "--seq", "16", "--option", "checkpoint_every=2"]
    kill_in_the_middle([*case, "--option", f"checkpoint={folder}"], folder, tmp_path)
    rest, whole = records_of(dyno("run", *case, "--option", f"checkpoint={folder},{other}"))
    assert rest["status"] == whole["status"] == "ok", rest["reason"]
    assert 0 < rest["metrics"]["resumed_step"]["value"] < STEPS
    assert "resumed_step" not in whole["metrics"]
    assert losses_of(rest) == losses_of(whole)
    for name in ("loss", "validation_loss", "validation_accuracy"):
        assert rest["metrics"][name]["value"] == whole["metrics"][name]["value"]


def kill_in_the_middle(case: list[str], folder: Path, place: Path) -> None:
    """Kill the worker, then the command, as soon as there is a checkpoint."""
    command = [sys.executable, "-m", "modeldyno", "run", *case]
    with subprocess.Popen(command, cwd=place, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as running:
        while not list(folder.glob("*.pt")):
            assert running.poll() is None, "it ended without a checkpoint"
            time.sleep(0.002)
        family = psutil.Process(running.pid).children(recursive=True)
        for process in (*reversed(family), psutil.Process(running.pid)):
            process.kill()
        psutil.wait_procs(family, timeout=30)


def test_the_result_is_that_of_the_process_that_trained_for_it(dyno) -> None:
    few = (
        "--workload",
        "training",
        "--on",
        "cpu",
        "--runtime",
        "torch",
        "--samples",
        "3",
        "--processes",
        "2",
        "--json",
    )
    (record,) = records_of(dyno("run", "tiny-bert", *few, "--seq", "16", "--option", "steps=5"))
    assert record["status"] == "ok"
    assert len(record["samples"]) == 2
    losses = losses_of(record)
    assert [record["metrics"]["loss_begin"]["value"], record["metrics"]["loss"]["value"]] == [losses[0], losses[-1]]
    assert record["metrics"]["gradient_norm"].get("low") is None


def test_batch_sizes_scale_and_options_reach_the_record(dyno, tmp_path: Path) -> None:
    logs = tmp_path / "logs"
    more = ("--option", "steps=5", "--option", "target=loss<0.01", "--option", f"tensorboard={logs}")
    arguments = ("tiny-bert", *TRAIN, "--seq", "16", "--batch", "1,2,4", "--precision", "fp32,fp16", *more)
    records = records_of(dyno("run", *arguments))
    good = [record for record in records if record["status"] == "ok"]
    refused = [record for record in records if record["status"] == "skipped"]
    assert [record["case"]["precision"] for record in good] == ["fp32"] * 3
    assert all("autocast=fp16" in record["remedy"] for record in refused)
    assert all("was not reached" in record["metrics"]["steps_to_target"]["note"] for record in good)
    assert len(list(logs.glob("*/events*"))) == 3
    told = json.loads(dyno("scaling", "--workload", "training", "--json").stdout)
    (curve,) = told["curves"]
    assert [point["size"] for point in curve["points"]] == [1, 2, 4]


def test_a_wrong_option_ends_the_command_before_anything_runs(dyno) -> None:
    done = dyno("run", "tiny-bert", "--workload", "training", "--on", "cpu", "--option", "preset=lorra")
    assert done.returncode == 2
    assert "preset should be 'full', 'head' or 'lora'" in done.stderr


def test_the_example_suite_is_one(dyno) -> None:
    suite = Path(__file__).parents[2] / "examples" / "training.yaml"
    planned = json.loads(dyno("run", str(suite), "--dry-run", "--json").stdout)["cases"]
    assert {case["workload"] for case in planned} == {"training"}
    assert {"preset", "steps"} <= {name for case in planned for name in case["options"]}
