"""Does device time agree with CUDA events in a hand-written loop? Needs an NVIDIA GPU.

    python benchmarks/device_time.py

Large steps keep the GPU busy, so plain events around a loop of steps are the truth. A chain of small kernels is bound
by launches, so there the truth is events around replays of a CUDA graph, which launches nothing.
"""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

import torch

from modeldyno import models
from modeldyno.core.policy import policy
from modeldyno.core.types import Weights
from modeldyno.measure import loop
from modeldyno.platforms import PLATFORMS

LARGE = [("bert-base-uncased", 32, 512), ("bert-base-uncased", 128, 512), ("opt-125m", 64, 512)]
DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def events(work, repeats: int = 20) -> float:
    """Milliseconds of one call by events around `repeats` of them; the median of five such loops."""
    times = []
    for _ in range(5):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        start.record()
        for _ in range(repeats):
            work()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end) / repeats)
    return statistics.median(times)


def by_hand(model: str, batch: int, seq: int, precision: str) -> float:
    source = models.prepare(models.resolve(model), batch, {"seq": seq}, Weights.RANDOM)
    module = source.torch_model().to(device="cuda", dtype=DTYPES[precision])
    inputs = {name: torch.from_numpy(array).cuda() for name, array in source.inputs().items()}
    with torch.inference_mode():
        for _ in range(3):
            module(**inputs)
        return events(lambda: module(**inputs))


def by_harness(model: str, batch: int, seq: int, precision: str) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "modeldyno", "run", model, "--on", "cuda", "--precision", precision]
        command += ["--batch", str(batch), "--seq", str(seq), "--quick", "--json"]
        command += ["--store", str(Path(folder) / "s.duckdb")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["records"][0]["metrics"]["device_time_ms"]["value"]


def chain_of_small_kernels() -> tuple[float, float]:
    """Guarded laps against graph replays, for a step of 100 launches that never waits for the device."""
    session = PLATFORMS.get("cuda").open(0)
    values = torch.randn(512, 512, device="cuda")

    def step():
        result = values
        for _ in range(100):
            result = torch.tanh(result)
        return result

    with torch.inference_mode():
        harness = statistics.median(loop.sample(session, step, policy("quick")).device_ms)
        graph = torch.cuda.CUDAGraph()
        with torch.cuda.graph(graph):
            step()
        return harness, events(graph.replay)


def main() -> None:
    torch.backends.cuda.matmul.allow_tf32 = False
    rows = [("100 small kernels", *chain_of_small_kernels())]
    for model, batch, seq in LARGE:
        for precision in ("fp32", "bf16"):
            cell = f"{model} {precision} batch {batch} seq {seq}"
            rows.append((cell, by_harness(model, batch, seq, precision), by_hand(model, batch, seq, precision)))
            torch.cuda.empty_cache()
    print(f"{'cell':45s} {'harness ms':>11s} {'by hand ms':>11s} {'ratio':>7s}")
    for cell, harness, hand in rows:
        print(f"{cell:45s} {harness:11.4f} {hand:11.4f} {harness / hand:7.4f}")


if __name__ == "__main__":
    main()
