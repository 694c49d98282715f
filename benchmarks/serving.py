"""Does the search for the highest rate find the same again, and a slower server at a lower rate?

python benchmarks/serving.py --repeat 5 --slo p99=50ms

Each repetition is a `dyno run` of its own, with fresh processes. Prints the rates found, their range over the median,
how far the figures of each record are from LoadGen's own, and the rate of a server that works longer on each batch
(option `extra_work`). Exits with 1 where the range is beyond 10 %, a figure differs by more than 0.5 %, or the slower
server is not found slower; one that keeps the bound at no rate counts as 0.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

RANGE = 0.10
AGREE = 0.005
SAID = {
    "latency_p99_ms": (r"^99\.00 percentile latency \(ns\)\s*: (\d+)$", 1e-6),
    "throughput_per_s": (r"^Completed samples per second\s*: ([\d.]+)$", 1.0),
    "sustained_per_s": (r"^Scheduled samples per second\s*: ([\d.]+)$", 1.0),
}


def record(options: argparse.Namespace, folder: Path, extra_work: float = 0.0) -> dict[str, Any]:
    """The record of one run."""
    command = [sys.executable, "-m", "modeldyno", "run", options.model, "--workload", "serving", "--json"]
    named = ("on", "runtime", "precision", "batch", "seq", "processes", "slo")
    command += [word for name in named for word in (f"--{name}", str(getattr(options, name)))]
    command += ["--store", str(folder / "dyno.duckdb"), "--timeout", "3600"]
    duration = [f"duration={options.duration}"] if options.duration else []
    case_options = [*options.option, *duration, *([f"extra_work={extra_work}"] if extra_work else [])]
    command += [word for pair in case_options for word in ("--option", pair)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    records = json.loads(done.stdout)["records"] if done.stdout else []
    allowed = {"ok", "invalid"} if extra_work else {"ok"}
    if not records or records[0]["status"] not in allowed:
        sys.exit(done.stderr)
    return dict(records[0])


def rate(found: dict[str, Any]) -> float:
    """0 where no rate keeps the bound."""
    return float(found["metrics"]["sustained_per_s"]["value"]) if found["status"] == "ok" else 0.0


def differences(found: dict[str, Any]) -> dict[str, float]:
    """Our figures over LoadGen's, less one; both the median of the processes."""
    ratios = {}
    for name, (pattern, scale) in SAID.items():
        said, ours = re.findall(pattern, found["log"], re.MULTILINE), found["metrics"][name]["value"]
        if said and ours is not None:
            ratios[name] = ours / (median(map(float, said)) * scale) - 1
    return ratios


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--model", default="bert-tiny")
    parser.add_argument("--on", default="cpu")
    parser.add_argument("--runtime", default="auto")
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--seq", type=int, default=128)
    parser.add_argument("--processes", type=int, default=3, help="of each repetition; each searches, the median counts")
    parser.add_argument("--slo", default="p99=50ms")
    parser.add_argument("--duration", type=float, help="seconds each test lasts at least")
    parser.add_argument("--option", action="append", default=[], help="further case options: --option threads=1")
    parser.add_argument("--extra", type=float, default=1.0, help="share of its time that the slow server works longer")
    options = parser.parse_args()
    rates, worst = [], 0.0
    with tempfile.TemporaryDirectory() as name:
        for number in range(options.repeat):
            found = record(options, Path(name))
            apart = differences(found)
            rates.append(rate(found))
            worst = max([worst, *map(abs, apart.values())])
            figures = ", ".join(f"{metric} {ratio:+.3%}" for metric, ratio in apart.items())
            seconds = found["duration_s"]
            print(f"{number + 1}: {rates[-1]:.4g} queries/s in {seconds:.0f} s; against LoadGen: {figures}", flush=True)
        slow = rate(record(options, Path(name), options.extra)) if options.extra else 0.0
    spread = (max(rates) - min(rates)) / median(rates)
    print(f"{options.slo}: median {median(rates):.4g} queries/s, range {spread:.1%} over {len(rates)} repetitions")
    if options.extra:
        print(f"with {options.extra:.0%} more work: {slow:.4g} queries/s, {slow / median(rates):.2f} of the median")
    sys.exit(int(spread > RANGE or worst > AGREE or slow >= min(rates)))


if __name__ == "__main__":
    main()
