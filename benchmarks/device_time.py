"""Does device time agree with CUDA events in a hand-written loop? Needs an NVIDIA GPU.

    python benchmarks/device_time.py

Large steps keep the GPU busy, so plain events around a loop of steps are the truth. A chain of small kernels is bound
by launches, so there the truth is events around one step that was queued while the device slept.
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


def by_harness() -> list[float]:
    """The device times of all large cells, from one run of the command line."""
    blocks = [
        {"model": model, "precision": precision, "batch": batch, **({"seq": seq} if seq else {})}
        for model, precision, batch, seq in LARGE
    ]
    with tempfile.TemporaryDirectory() as folder:
        suite = Path(folder) / "suite.json"
        suite.write_text(json.dumps({"on": "cuda", "blocks": blocks}))
        command = [sys.executable, "-m", "modeldyno", "run", str(suite), "--quick", "--json"]
        command += ["--store", str(Path(folder) / "s.duckdb")]
        done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return [record["metrics"]["device_time_ms"]["value"] for record in json.loads(done.stdout)["records"]]


def chain_of_kernels(size: int, truth) -> tuple[float, float]:
    """A step of 100 launches that never waits for the device."""
    session = PLATFORMS.get("cuda").open(0)
    values = torch.randn(size, size, device="cuda")

    def step():
        result = values
        for _ in range(100):
            result = torch.tanh(result)
        return result

    with torch.inference_mode():
        return statistics.median(loop.sample(session, step, policy("quick")).device_ms), truth(step)


def behind_sleep(step) -> float:
    """Events around one step that was queued up while the device slept for 10 ms."""
    times = []
    for _ in range(20):
        start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
        torch.cuda._sleep(20_000_000)
        start.record()
        step()
        end.record()
        torch.cuda.synchronize()
        times.append(start.elapsed_time(end))
    return statistics.median(times)


def main() -> None:
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = False
    rows = [
        ("100 small kernels, behind a sleep", *chain_of_kernels(256, behind_sleep)),
        ("100 large kernels, plain events", *chain_of_kernels(8192, events)),
    ]
    for cell, harness in zip(LARGE, by_harness(), strict=True):
        rows.append((" ".join(map(str, cell)), harness, by_hand(*cell)))
        torch.cuda.empty_cache()
    print(f"{'cell':45s} {'harness ms':>11s} {'by hand ms':>11s} {'ratio':>7s}")
    for cell, harness, hand in rows:
        print(f"{cell:45s} {harness:11.4f} {hand:11.4f} {harness / hand:7.4f}")


if __name__ == "__main__":
    main()
