"""How long does a report over a large store take, and how large is it?

    python benchmarks/reports.py --results 100000 [--kind summary,performance,trend] [--format html,md,pdf,json]

The results are made up (seeded, marked `simulated`): 50 models on 8 platforms in two precisions and four batch sizes,
as 32 days of runs would leave them, in a scratch folder that goes when the script ends. Each report is made by the real
command in a process of its own. Exits with 1 where an HTML file takes more than 20 s or 5 MB.
"""

from __future__ import annotations

import argparse
import math
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import product
from pathlib import Path

from modeldyno.core.identity import stable_id
from modeldyno.core.types import (
    Case,
    Device,
    Host,
    MetricValue,
    ModelInfo,
    Passport,
    Provenance,
    Record,
    Run,
    Samples,
    Status,
    Stop,
    Verdict,
)
from modeldyno.models import ARCHITECTURES, catalogue, size_class
from modeldyno.platforms import PLATFORMS
from modeldyno.store.store import Store

MODELS, PRECISIONS, BATCHES, SAMPLES = 50, ("fp32", "bf16"), (1, 4, 16, 64), 40
BEGIN = datetime(2026, 1, 1, tzinfo=UTC)
MOST_S, MOST_MB = 20.0, 5.0
ENTRIES, NAMES = catalogue(), ARCHITECTURES.names()
BUILT_IN = ("cpu", "cuda", "mps", "openvino", "qnn", "rocm", "webgpu", "webnn")


def made_up(results: int) -> Iterator[Run | Record]:
    """A run a day with a record of each case, until there are enough."""
    dice = random.Random(20261115)
    places = [name for name in PLATFORMS.names() if name in BUILT_IN]
    cases = list(product(range(MODELS), places, PRECISIONS, BATCHES))
    days = math.ceil(results / len(cases))
    for day in range(days):
        moment = BEGIN + timedelta(days=day)
        run = Run(run_id=stable_id(moment, "run"), started_at=moment, host=_HOST, command="made up", version="0")
        yield run
        for which, (number, platform, precision, batch) in enumerate(cases[: results - day * len(cases)]):
            yield _record(dice, run, which, number, platform, precision, batch)


_HOST = Host(host_id="scratch", hostname="scratch", cpu="none", logical_cores=2, memory_mb=1.0)


def _record(
    dice: random.Random, run: Run, which: int, number: int, platform: str, precision: str, batch: int
) -> Record:
    entry = ENTRIES[number % len(ENTRIES)]
    name = f"{entry.name}-{number}"
    level = (1 + number) * batch**0.8 / (1 + len(platform)) * (0.7 if precision == "bf16" else 1.0)
    samples = [round(level * dice.lognormvariate(0, 0.02), 5) for _ in range(SAMPLES)]
    middle = sorted(samples)[SAMPLES // 2]
    failed = which % 60 == 7
    return Record(
        record_id=stable_id(run.started_at, str(which)),
        run_id=run.run_id,
        case=Case(model=name, platform=platform, runtime="torch", precision=precision, batch=batch, shape={"seq": 128}),
        status=Status.FAILED if failed else Status.OK,
        reason="made up to fail" if failed else None,
        provenance=Provenance.SIMULATED,
        evidence=("made up by benchmarks/reports.py",),
        started_at=run.started_at + timedelta(seconds=which),
        device=Device(platform=platform, index=0, name=f"a {platform} device", memory_mb=16384.0, driver="1"),
        model=ModelInfo(
            name=name,
            architecture=NAMES[number % len(NAMES)],
            family=entry.family,
            parameters=entry.parameters,
            size=size_class(entry.parameters),
            weights="random",
            source="catalogue",
            fingerprint=name,
        ),
        passport=Passport(verdict=Verdict.VALID),
        metrics={}
        if failed
        else {
            "latency_ms": MetricValue(value=middle, low=middle * 0.99, high=middle * 1.01, n=SAMPLES),
            "throughput_per_s": MetricValue(value=batch * 1e3 / middle, n=SAMPLES),
            "memory_peak_mb": MetricValue(value=100.0 + 10 * number + batch),
        },
        samples=() if failed else (Samples(host_ms=samples, stop=Stop.INTERVAL, steady=True),),
        software={"torch": "2.13.0"},
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=int, default=100_000)
    parser.add_argument("--kind", default="summary,performance,trend")
    parser.add_argument("--format", default="html,md,pdf,json")
    parser.add_argument("--keep", type=Path, help="write store and reports here, and leave them")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        folder = options.keep or Path(scratch)
        folder.mkdir(parents=True, exist_ok=True)
        store = Store(folder / "reports.duckdb")
        if not store.path.exists():
            store.add(made_up(options.results))
        print(f"{options.results} results, {store.path.stat().st_size / 1e6:.0f} MB, {os.cpu_count()} cores")
        good = [
            measure(store, kind, form, folder) for kind in options.kind.split(",") for form in options.format.split(",")
        ]
    raise SystemExit(0 if all(good) else 1)


def measure(store: Store, kind: str, form: str, folder: Path) -> bool:
    """One report by the real command; whether it is within the limits."""
    output = folder / form
    command = [sys.executable, "-m", "modeldyno", "report", kind, "--format", form, "--output", str(output)]
    begin = time.perf_counter()
    done = subprocess.run(
        [*command, "--provenance", "simulated", "--store", str(store.path)], capture_output=True, text=True, check=True
    )
    seconds = time.perf_counter() - begin
    files = [Path(line.removeprefix("Wrote ")) for line in done.stdout.splitlines()]
    size = sum(path.stat().st_size for path in files) / 1e6
    print(f"{kind:12} {form:5} {seconds:6.1f} s {size:6.2f} MB in {len(files)} files", flush=True)
    return form != "html" or (seconds < MOST_S and size < MOST_MB)


if __name__ == "__main__":
    main()
