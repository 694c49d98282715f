"""`dyno plan` from the command line, and its scripts under a real torchrun: two processes on the CPU."""

from __future__ import annotations

import contextlib
import json
import os
import random
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from modeldyno import models
from modeldyno.advise.plan import Request, make_plan
from modeldyno.advise.script import render
from modeldyno.core.types import Weights

pytestmark = pytest.mark.slow

STEPS = 3
WAYS = {
    "DDP 2": {},
    "FSDP 2, checkpointing": {},
    "FSDP 2, checkpointing, offload": {},
    "tensor 2": {"tensor": 2},
    "pipeline 2": {"pipeline": 2},
}
ONE_AFTER_THE_OTHER = f"""
import os, runpy, sys
os.environ.pop("TORCHELASTIC_USE_AGENT_STORE")  # what one script left there would confuse the next
for port, script in zip(sys.argv[1::2], sys.argv[2::2]):
    os.environ["MASTER_PORT"] = port
    sys.argv = [script, "--steps", "{STEPS}", "--save", script + ".saved"]
    runpy.run_path(script, run_name="__main__")
"""


def test_a_plan_with_its_script(dyno, tmp_path: Path) -> None:
    asked = ("plan", "tiny-llama", "--gpus", "4", "--max-memory-gb", "8", "--seq", "32", "--output", "train.py")
    done = dyno(*asked, "--json")
    assert done.returncode == 0, done.stderr
    document = json.loads(done.stdout)
    assert document["chosen"]["name"] == "DDP 4"
    assert document["command"] == "torchrun --nproc-per-node 4 train.py"
    parts = document["chosen"]["memory"]
    assert parts["total_gb"] == pytest.approx(sum(v for k, v in parts.items() if k != "total_gb"), abs=0.01)
    assert 'SHAPE = {"seq": 32}' in (tmp_path / "train.py").read_text()


def test_every_way_learns_the_same(tmp_path: Path) -> None:
    scripts = [_script(tmp_path, number, way) for number, way in enumerate(WAYS)]
    told = _torchrun(tmp_path, scripts)
    wanted = pytest.approx(_on_one(), abs=2e-5)
    assert {way: losses == wanted for way, losses in zip(WAYS, told, strict=True)} == dict.fromkeys(WAYS, True)
    names = [_saved(script) for script in scripts]
    assert all(each == names[0] for each in names), "a stage saves its blocks under the names of the whole model"


def _script(folder: Path, number: int, way: str) -> Path:
    request = Request("tiny-llama", 8, "fp32", shape={"seq": 16}, gpus=2, global_batch=8, micro_batch=2, **WAYS[way])
    plan = make_plan(request)
    chosen = next(one for one in plan.candidates if one.name == way)
    path = folder / f"train{number}.py"
    path.write_text(render(replace(plan, chosen=chosen), path.name))
    return path


def _torchrun(folder: Path, scripts: list[Path]) -> list[list[float]]:
    """The losses of each script; all in the same two processes, for starting them takes longest."""
    runner = folder / "all.py"
    runner.write_text(ONE_AFTER_THE_OTHER)
    torchrun = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    pairs = [str(each) for pair in zip(_free_ports(len(scripts)), scripts, strict=True) for each in pair]
    command = [*torchrun, str(runner), *pairs]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=200, env=environment)
    assert done.returncode == 0, done.stderr[-3000:]
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("step")]
    return [losses[first : first + STEPS] for first in range(0, len(losses), STEPS)]


def _free_ports(count: int) -> list[int]:
    """Below those that the system hands out: a server of another test must not get one before it is used here."""
    found: list[int] = []
    while len(found) < count:
        port = random.randrange(15_000, 32_000)
        with contextlib.suppress(OSError), socket.socket() as trial:
            trial.bind(("127.0.0.1", port))
            found += [port] if port not in found else []
    return found


def _on_one() -> list[float]:
    """The same steps in plain PyTorch: four micro-batches each."""
    import torch

    spec = models.resolve("tiny-llama")
    lesson = models.lesson(spec, None, 2, {"seq": 16}, 0)
    model = models.learner(spec, Weights.AUTO, 0).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4)
    losses = []
    for step in range(STEPS):
        total = 0.0
        for number in range(4 * step, 4 * step + 4):
            tensors = {name: torch.from_numpy(array) for name, array in lesson.batch(number).items()}
            loss = lesson.forward(model, tensors).loss / 4
            loss.backward()
            total += float(loss.detach())
        optimizer.step()
        optimizer.zero_grad()
        losses.append(total)
    return losses


def _saved(script: Path) -> set[str]:
    from torch.distributed.checkpoint import FileSystemReader

    return set(FileSystemReader(f"{script}.saved").read_metadata().state_dict_metadata)
