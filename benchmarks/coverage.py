"""Do 95 % intervals cover what they should? Of a median and of a ratio, on simulated and on real measurements.

    python benchmarks/coverage.py --simulated 1000
    python benchmarks/coverage.py --real 50 [MODEL]

Simulated: processes that differ by a lognormal factor, with skewed noise and sometimes a slow drift inside; the truth
is known. For the ratio a hierarchical bootstrap (resample processes, then samples) runs beside Welch's interval, on a
tenth of the tries. One process knows nothing of others: its median is held against its own truth, and its ratio has an
allowance. Real: the same case measured again and again by fresh worker processes; the truth is the median over all.
"""

from __future__ import annotations

import argparse
import math
import statistics
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import repeat

import numpy as np

from modeldyno.analysis.ratio import estimate_of_samples, ratio
from modeldyno.core.policy import policy
from modeldyno.core.types import Case, Record, Status
from modeldyno.measure.statistics import grouped_median_interval, median_interval
from modeldyno.runner.execute import execute
from modeldyno.runner.plan import make_plan

DRAWS = 2000
TIMEOUT_S = 300.0
Groups = list[list[float]]


@dataclass(frozen=True)
class World:
    """How simulated measurements come about."""

    name: str
    between: float
    """Standard deviation of the logarithm between processes."""
    noise: float
    """Scale of the skewed noise inside a process."""
    drift: float = 0.0
    """Largest drift over a process, as a share; up or down."""

    def measure(self, dice: np.random.Generator, processes: int, samples: int) -> Groups:
        return [self._process(dice, samples) for _ in range(processes)]

    def _process(self, dice: np.random.Generator, samples: int) -> list[float]:
        noise = (1 + dice.gamma(1.5, self.noise, samples)) / (1 + self.noise * MEDIAN_OF_GAMMA)
        trend = 1 + dice.uniform(-self.drift, self.drift) * np.linspace(-0.5, 0.5, samples)
        return list(math.exp(dice.normal(0, self.between)) * noise * trend)


MEDIAN_OF_GAMMA = 1.1829869621
"""Median of a gamma variable of shape 1.5, so that the true median is 1."""
WORLDS = (
    World("processes alike", 0.0, 0.05),
    World("processes differ by 1 %", 0.01, 0.05),
    World("processes differ by 5 %", 0.05, 0.05),
    World("very noisy", 0.10, 0.30),
    World("with drift", 0.02, 0.05, 0.05),
)


def bootstrap(dice: np.random.Generator, old: Groups, new: Groups) -> tuple[float, float]:
    """The hierarchical bootstrap of the log-ratio."""
    drawn = _resampled(dice, new) - _resampled(dice, old)
    low, high = np.quantile(drawn, (0.025, 0.975))
    return float(low), float(high)


def _resampled(dice: np.random.Generator, groups: Groups) -> np.ndarray:
    values = np.asarray(groups)
    processes, samples = values.shape
    total = np.zeros(DRAWS)
    for _ in range(processes):
        rows = values[dice.integers(processes, size=DRAWS)]
        places = dice.integers(samples, size=(DRAWS, samples))
        total += np.log(np.median(np.take_along_axis(rows, places, 1), axis=1))
    return total / processes


def share(tries: int, covers: Callable[[], bool]) -> str:
    return f"{sum(covers() for _ in range(tries)) / tries:8.1%}"


def simulated(tries: int, seed: int) -> None:
    title = f"intervals that cover, of {tries}"
    print(f"{title:48}{'median':>12}{'ratio: Welch':>16}{'bootstrap':>14}")
    alone = [(1, samples, WORLDS[0]) for samples in (10, 30, 100, 300)]
    for processes, samples, world in [*alone, *((p, 30, world) for p in (2, 3, 5, 10) for world in WORLDS)]:
        print(_row(world, processes, samples, tries, np.random.default_rng(seed)), flush=True)


def _row(world: World, processes: int, samples: int, tries: int, dice: np.random.Generator) -> str:
    def measured() -> Groups:
        return world.measure(dice, processes, samples)

    def median_covers() -> bool:
        groups = measured()
        found = median_interval(groups[0]) if processes == 1 else grouped_median_interval(groups)
        return found.low <= 1 <= found.high

    def ratio_covers() -> bool:
        found = ratio(estimate_of_samples(measured()), estimate_of_samples(measured())).interval
        return found is not None and found.low <= 1 <= found.high

    def bootstrap_covers() -> bool:
        low, high = bootstrap(dice, measured(), measured())
        return low <= 0 <= high

    cells = [share(tries, median_covers), share(tries, ratio_covers), share(max(1, tries // 10), bootstrap_covers)]
    name = f"{processes} of {samples} samples, {world.name}"
    return f"{name:48}{cells[0]:>12}{cells[1]:>16}{cells[2]:>14}"


class Silent:
    def note(self, process: int, case: Case, text: str) -> None:
        """Nobody watches."""


def measure(number: int, model: str, processes: int) -> Record:
    """One whole measurement by fresh worker processes, on one thread each."""
    rules = policy("quick").model_copy(update={"processes": processes, "preload": False, "samples": 30})
    case = Case(model=model, platform="cpu", runtime="torch", shape={"seq": 32}, options={"threads": 1})
    records: list[Record] = []
    execute(f"coverage-{number}", make_plan([case]), rules, TIMEOUT_S, records.append, Silent())
    (record,) = records
    return record


def real(tries: int, model: str, processes: int, jobs: int) -> None:
    """Coverage of the pooled median, with so many measurements at a time as the machine has cores to spare."""
    records: list[Record] = []
    with ProcessPoolExecutor(jobs) as pool:
        for record in pool.map(measure, range(tries), repeat(model), repeat(processes)):
            if record.status is not Status.OK:
                raise SystemExit(f"{record.case.label} is {record.status.value}: {record.reason}")
            records.append(record)
            latency = record.metrics["latency_ms"]
            print(f"{len(records):4}: {latency.value:.4f} ms [{latency.low:.4f}, {latency.high:.4f}]", flush=True)
    pooled = statistics.median(statistics.median(s.host_ms) for record in records for s in record.samples)
    covering = sum(m.low <= pooled <= m.high for m in (record.metrics["latency_ms"] for record in records))
    print(f"{covering} of {tries} intervals cover the pooled median {pooled:.4f} ms ({covering / tries:.0%})")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="tiny-bert")
    parser.add_argument("--simulated", type=int, default=0, metavar="TRIES")
    parser.add_argument("--real", type=int, default=0, metavar="TRIES")
    parser.add_argument("--processes", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1, help="real measurements at a time; fewer than cores")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    if options.simulated:
        simulated(options.simulated, options.seed)
    if options.real:
        real(options.real, options.model, options.processes, options.jobs)


if __name__ == "__main__":
    main()
