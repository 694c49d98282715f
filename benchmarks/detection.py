"""How often change points are found where there is one, and where there is none; beside Apache Otava.

    python benchmarks/detection.py --peer-python VENV/bin/python     # a venv with apache-otava; without it only ours
    python benchmarks/detection.py --calibrate                       # the tables of modeldyno.analysis.calibration
    python benchmarks/detection.py --real 40                         # real runs on the CPU, half of them with more work
    python benchmarks/detection.py --speed 10000                     # so many stored series of 100 points

The series of the first are simulated (seeded): a level of 100 with noise of 1 %. Both tools see the same ones; the peer
is slow and sees the first of each cell. `Found` means a change point at most two places from the true one.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np

from modeldyno.analysis.calibration import SHARES, SHORTEST, likely_autocorrelation
from modeldyno.analysis.changes import find_changes, largest_bump, largest_split, noise_of
from modeldyno.analysis.levels import smallest_detectable
from modeldyno.core.identity import stable_id
from modeldyno.core.types import Case, Device, Host, MetricValue, Provenance, Record, Run, Status
from modeldyno.store.store import Store

SEED = 20261115
STEP = 3.0
NEAR = 2
LENGTHS = (6, 7, 8, 10, 12, 15, 20, 30, 40, 60, 100, 150, 250, 500, 1000, 2000)
PEER = """
import json, sys
from otava.analysis import compute_change_points
for series in json.load(sys.stdin):
    print(json.dumps([int(point.index) for point in compute_change_points(series)[0]]))
"""
"""Otava as its command uses it: windows of 50, p 0.001."""

Dice = np.random.Generator


def independent(dice: Dice, count: int, length: int) -> np.ndarray:
    return dice.standard_normal((count, length))


def autocorrelated(dice: Dice, count: int, length: int, rho: float | np.ndarray = 0.5) -> np.ndarray:
    noise = dice.standard_normal((count, length))
    for place in range(1, length):
        noise[:, place] = rho * noise[:, place - 1] + np.sqrt(1 - np.square(rho)) * noise[:, place]
    return noise


def spiked(dice: Dice, count: int, length: int) -> np.ndarray:
    """One value in twenty is five to ten standard deviations too high."""
    hit = dice.random((count, length)) < 0.05
    return dice.standard_normal((count, length)) + hit * dice.uniform(5, 10, (count, length))


def heavy_tailed(dice: Dice, count: int, length: int) -> np.ndarray:
    """Student's t with three degrees of freedom, of unit variance."""
    return dice.standard_t(3, (count, length)) / np.sqrt(3)


NOISES: dict[str, Callable[[Dice, int, int], np.ndarray]] = {
    "independent": independent,
    "AR(0.5)": autocorrelated,
    "5 % spikes": spiked,
    "t3": heavy_tailed,
}


@dataclass(frozen=True)
class Cell:
    """Series of one kind; `after` values follow the step, none where there is no step."""

    noise: str
    length: int
    after: int
    goal: str = ""

    @property
    def title(self) -> str:
        what = f"step, {self.after} after it" if self.after else "no change"
        return f"{self.noise}, {self.length if not self.after else '30+'} points, {what}"

    def series(self, count: int) -> list[tuple[np.ndarray, int | None]]:
        """Values and the place of the step."""
        dice = np.random.default_rng([SEED, self.length, self.after, list(NOISES).index(self.noise)])
        made = NOISES[self.noise](dice, count, self.length)
        if not self.after:
            return [(level(row), None) for row in made]
        places = dice.integers(30, self.length - self.after + 1, count)
        return [
            (level(row[: place + self.after] + STEP * (np.arange(place + self.after) >= place)), int(place))
            for row, place in zip(made, places, strict=True)
        ]


CELLS = (
    Cell("independent", 100, 0, "<= 1 %"),
    Cell("AR(0.5)", 100, 0, "<= 1 %"),
    Cell("5 % spikes", 100, 0, "<= 3 %"),
    Cell("t3", 100, 0, "<= 3 %"),
    *(Cell(noise, 300, 0, "<= 2 %") for noise in NOISES),
    Cell("independent", 100, 5, ">= 90 %"),
    Cell("independent", 100, 3, ">= 70 %"),
    *(Cell(noise, 100, after) for noise in list(NOISES)[1:] for after in (5, 3)),
)


def level(noise: np.ndarray) -> np.ndarray:
    return 100 * np.exp(0.01 * noise)


def ours(series: Sequence[np.ndarray]) -> list[list[int]]:
    return [[change.place for change in find_changes(values)] for values in series]


def theirs(python: str, series: Sequence[np.ndarray]) -> list[list[int]]:
    told = json.dumps([values.tolist() for values in series])
    done = subprocess.run([python, "-c", PEER], input=told, capture_output=True, text=True, check=True)
    return [json.loads(line) for line in done.stdout.splitlines()]


def rate(found: Sequence[Sequence[int]], places: Sequence[int | None]) -> float:
    """The share of series with a change point; where there is a step, one near it."""
    hits = (
        bool(points) if place is None else any(abs(point - place) <= NEAR for point in points)
        for points, place in zip(found, places, strict=True)
    )
    return statistics.fmean(hits)


def side_by_side(count: int, peer: str | None, peer_count: int) -> None:
    told = f"the peer {peer_count}" if peer else "no peer"
    print(f"{count} series per cell, {told}; a step is {STEP:g} standard deviations, found within {NEAR} places\n")
    print(f"{'':<44}{'ours':>9}{'exact':>9}{'Otava':>9}   goal for ours")
    begin = time.perf_counter()
    for cell in CELLS:
        made = cell.series(count)
        values, places = [row for row, _ in made], [place for _, place in made]
        found = ours(values)
        exact = statistics.fmean(place in points for points, place in zip(found, places, strict=True))
        columns = [f"{rate(found, places):>9.2%}", f"{exact:>9.1%}" if cell.after else f"{'':>9}"]
        other = f"{rate(theirs(peer, values[:peer_count]), places[:peer_count]):>9.2%}" if peer else f"{'-':>9}"
        print(f"{cell.title:<44}{''.join(columns)}{other}   {cell.goal}", flush=True)
    print(f"\n{time.perf_counter() - begin:.0f} s")


def looked_at_anew(count: int) -> None:
    """Users look after each run: how many series without a change are flagged at any of a hundred looks."""
    print(f"\nlooked at after each of 100 points, no change ({count} series): flagged at some time")
    for noise in ("independent", "AR(0.5)"):
        made = Cell(noise, 100, 0).series(count)
        flagged = statistics.fmean(any(find_changes(row[:end]) for end in range(6, 101)) for row, _ in made)
        print(f"  {noise:<20}{flagged:>9.2%}", flush=True)


def detectable(count: int) -> None:
    """Steps as large as the smallest that a series is said to be able to show."""
    print(f"\na step as large as the stated smallest detectable change, 5 after it, 95 before ({count} series): found")
    for noise in ("independent", "AR(0.5)"):
        found = []
        for row, _ in Cell(noise, 100, 0).series(count):
            size = smallest_detectable(noise_of(row[:95], ()), 95)
            found.append(ours([row * np.where(np.arange(100) >= 95, np.exp(size), 1.0)])[0])
        print(f"  {noise:<20}{rate(found, [95] * count):>9.1%}", flush=True)


def calibrate(count: int) -> None:
    tables: dict[str, dict[int, np.ndarray]] = {"_SPLIT": {}, "_BUMP": {}}
    for length in LENGTHS:
        splits, bumps = zip(*_statistics(length, count if length <= 250 else count // 5), strict=True)
        tables["_SPLIT"][length] = np.concatenate(splits)
        if length >= 4 * SHORTEST:
            tables["_BUMP"][length] = np.concatenate(bumps)
    for name, rows in tables.items():
        print(f"{name} = {{")
        for length, values in rows.items():
            quantiles = np.quantile(values, 1 - np.array(SHARES))
            print(f"    {length}: ({', '.join(f'{value:.3f}' for value in quantiles)}),")
        print("}")


def _statistics(length: int, count: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    dice = np.random.default_rng([SEED, length])
    rows = max(50, 200_000 // length)
    for _ in range(0, count, rows):
        stack = autocorrelated(dice, rows, length, dice.uniform(0, likely_autocorrelation(length), rows))
        resolution = np.full((rows, 1), 1e-3)
        bump = largest_bump(stack, resolution)
        yield largest_split(stack, resolution).value, bump.value if bump else np.empty(0)


def real(runs: int, share: float, scratch: Path) -> None:
    """Repeated real runs on this machine; the second half works longer, or does not."""
    store = scratch / "real.duckdb"
    for title, slower in (("without a change", 0.0), (f"with {share:.0%} more work in the second half", share)):
        values = [_one_run(store, slower if number >= runs // 2 else 0.0) for number in range(runs)]
        changes = find_changes(values)
        print(f"{runs} runs {title}: change points {[(c.place, f'p {c.p_value:.2g}') for c in changes]}")
        if len(values) >= 2 * SHORTEST:
            noise = noise_of(values, changes)
            print(f"  noise {noise.sigma:.2%}, autocorrelation {noise.rho:.2f}, ms: {[round(v, 3) for v in values]}")


def _one_run(store: Path, slower: float) -> float:
    """One night's run: five fresh processes, for single ones fall into groups of their own speed."""
    command = [sys.executable, "-m", "modeldyno", "run", "tiny-bert", "--on", "cpu", "--runtime", "onnxruntime"]
    sizes = ["--batch", "4", "--seq", "64", "--processes", "5", "--quick", "--option", "threads=1"]
    extra = ["--option", f"extra_work={slower:g}"] if slower else []
    done = subprocess.run(
        [*command, *sizes, *extra, "--json", "--store", str(store)], capture_output=True, text=True, check=True
    )
    (record,) = json.loads(done.stdout)["records"]
    return float(record["metrics"]["latency_ms"]["value"])


def speed(series: int, scratch: Path) -> None:
    """A store of made-up series, marked simulated, and the command that reads and judges all of them."""
    store = Store(scratch / "speed.duckdb")
    store.add(_made_up(series))
    size = store.path.stat().st_size / 1e6
    command = [sys.executable, "-m", "modeldyno", "history", "--provenance", "simulated", "--json"]
    begin = time.perf_counter()
    done = subprocess.run([*command, "--store", str(store.path)], capture_output=True, text=True, check=True)
    seconds = time.perf_counter() - begin
    answer = json.loads(done.stdout)
    print(f"{len(answer['series'])} series of 100 points ({size:.0f} MB) in {seconds:.1f} s on {os.cpu_count()} cores")


def _made_up(series: int) -> Iterator[Run | Record]:
    dice = np.random.default_rng(SEED)
    device = Device(platform="cpu", index=0, name="made up", driver="1")
    cases = [Case(model=f"m{n}", platform="cpu", runtime="torch") for n in range(series)]
    for number in range(100):
        moment = datetime(2026, 1, 1, tzinfo=UTC) + timedelta(days=number)
        run = Run(run_id=stable_id(moment, "run"), started_at=moment, host=Host(host_id="h"), command="c", version="0")
        yield run
        for which, (case, noise) in enumerate(zip(cases, dice.standard_normal(series), strict=True)):
            yield Record(
                record_id=stable_id(moment, str(which)),
                run_id=run.run_id,
                case=case,
                status=Status.OK,
                provenance=Provenance.SIMULATED,
                evidence=("made up by benchmarks/detection.py",),
                started_at=moment,
                device=device,
                metrics={"latency_ms": MetricValue(value=float(level(noise)))},
                software={"torch": "2.13.0"},
            )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--series", type=int, default=5000, help="per cell")
    parser.add_argument("--peer-python", help="a Python that has apache-otava")
    parser.add_argument("--peer-series", type=int, default=1000, help="per cell")
    parser.add_argument("--calibrate", type=int, nargs="?", const=200_000, help="so many series per length")
    parser.add_argument("--real", type=int, help="so many runs each")
    parser.add_argument("--extra-work", type=float, default=0.1, help="the share by which the second half works longer")
    parser.add_argument("--speed", type=int, help="so many stored series")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="dyno-detection-") as scratch:
        if options.calibrate:
            calibrate(options.calibrate)
        elif options.real:
            real(options.real, options.extra_work, Path(scratch))
        elif options.speed:
            speed(options.speed, Path(scratch))
        else:
            side_by_side(options.series, options.peer_python, options.peer_series)
            detectable(options.series)
            looked_at_anew(max(1, options.series // 10))


if __name__ == "__main__":
    main()
