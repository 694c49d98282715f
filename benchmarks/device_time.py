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

LARGE = [
    ("bert-base-uncased", "fp32", 16, 512),
    ("bert-base-uncased", "bf16", 64, 512),
    ("vit-base-patch16-224", "fp32", 64, None),
    ("vit-base-patch16-224", "bf16", 256, None),
]
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


def by_hand(model: str, precision: str, batch: int, seq: int | None) -> float:
    source = models.prepare(models.resolve(model), batch, {"seq": seq} if seq else {}, Weights.RANDOM)
    module = source.torch_model().to(device="cuda", dtype=DTYPES[precision])
    tensors = {name: torch.from_numpy(array).cuda() for name, array in source.inputs().items()}
    inputs = {name: t.to(DTYPES[precision]) if t.is_floating_point() else t for name, t in tensors.items()}
    with torch.inference_mode():
        for _ in range(3):
            module(**inputs)
        return events(lambda: module(**inputs))


def by_harness(model: str, precision: str, batch: int, seq: int | None) -> float:
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "modeldyno", "run", model, "--on", "cuda", "--precision", precision]
        command += ["--batch", str(batch), "--quick", "--json", *(["--seq", str(seq)] if seq else [])]
        command += ["--store", str(Path(folder) / "s.duckdb")]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["records"][0]["metrics"]["device_time_ms"]["value"]


def chain_of_small_kernels() -> tuple[float, float]:
    """Guarded laps against graph replays, for a step of 100 launches that never waits for the device."""
    session = PLATFORMS.get("cuda").open(0)
    values = torch.randn(1024, 1024, device="cuda")

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
    for cell in LARGE:
        rows.append((" ".join(map(str, cell)), by_harness(*cell), by_hand(*cell)))
        torch.cuda.empty_cache()
    print(f"{'cell':45s} {'harness ms':>11s} {'by hand ms':>11s} {'ratio':>7s}")
    for cell, harness, hand in rows:
        print(f"{cell:45s} {harness:11.4f} {hand:11.4f} {harness / hand:7.4f}")


if __name__ == "__main__":
    main()
