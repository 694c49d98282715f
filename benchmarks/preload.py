"""Does a worker forked from a nursery measure the same as one started fresh? Interleaved blocks, ratio with interval.

    python benchmarks/preload.py [MODEL...] [--blocks 8]

Each block measures every model in one forked and one fresh process, in alternating order. The ratio of the medians per
block is the unit; the interval is the median's over blocks. Also prints the whole time of both.
"""

from __future__ import annotations

import argparse
import statistics
import time

from modeldyno import models
from modeldyno.core.policy import policy
from modeldyno.core.types import Case, Status
from modeldyno.measure.statistics import median_interval
from modeldyno.platforms import PLATFORMS
from modeldyno.runner.isolate import run_job
from modeldyno.runner.job import Job
from modeldyno.runner.processes import Processes


def measure(case: Case, processes: Processes) -> tuple[float, float]:
    """Median step time of one process in ms, and the whole time in s."""
    job = Job(cases=(case,), policy=policy("quick").model_copy(update={"samples": 40}))
    begin = time.perf_counter()
    ((_, outcome),) = run_job(job, processes, 600.0, lambda *_: None)
    if outcome.status is not Status.OK or outcome.samples is None:
        raise SystemExit(f"{case.label}: {outcome.reason}")
    return statistics.median(outcome.samples.host_ms), time.perf_counter() - begin


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="*", default=["tiny-bert", "whisper-tiny"])
    parser.add_argument("--blocks", type=int, default=8)
    options = parser.parse_args()
    runtime = PLATFORMS.get("cpu").runtimes[0]
    with Processes(preload=True) as forked, Processes(preload=False) as fresh:
        for name in options.model:
            case = Case(model=name, platform="cpu", runtime=runtime, shape=dict(models.resolve(name).axes))
            measure(case, forked), measure(case, fresh)  # the first makes what is cached
            ratios, seconds = [], {"forked": [], "fresh": []}
            for block in range(options.blocks):
                results = {}
                order = [("forked", forked), ("fresh", fresh)]
                for kind, processes in order if block % 2 else reversed(order):
                    results[kind], took = measure(case, processes)
                    seconds[kind].append(took)
                ratios.append(results["forked"] / results["fresh"])
            interval = median_interval(ratios)
            took = ", ".join(f"{kind} {statistics.median(values):.1f} s" for kind, values in seconds.items())
            print(f"{name}: forked / fresh {interval.value:.4f} [{interval.low:.4f}, {interval.high:.4f}]; {took}")


if __name__ == "__main__":
    main()
