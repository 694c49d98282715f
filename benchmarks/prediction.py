"""How well is told what was not measured? Examinations on public results, hidden by pair, model, family and device.

python benchmarks/prediction.py DATA            # the folder with timm, qualcomm_ai_hub and neusight
python benchmarks/prediction.py DATA --only timm-pair,hub-new --parts 8 --jobs 2

Results are imported into a store as a user would, a part is hidden (with all names of the same device), a predictor is
fitted on the rest and asked; of eight parts, or of all devices, the first few in turn. Prints for each examination the
share within 15 %, the median error, how often the 90 % interval held, its half-width as a factor, and how often it
abstained; beside what a simple method makes of the same cells (the same work on other devices, shifted by the middle
difference), what such methods reached on other splits (par), and what is aimed for (goal). Exits with 1 where one is
worse than par.
"""

from __future__ import annotations

import argparse
import csv
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, replace
from functools import cache
from itertools import islice, repeat
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from modeldyno.importers._batch import Wanted, import_paths
from modeldyno.predict._distances import twins
from modeldyno.predict._table import DEVICE, Tabulator
from modeldyno.predict.cells import Cell, newest
from modeldyno.predict.prediction import Prediction
from modeldyno.predict.predictor import Predictor
from modeldyno.predict.stored import cells_of
from modeldyno.store.store import Store

PARTS, CALIBRATION, QUESTIONS = 8, 10, 700
FEWEST_SHIFTS = 3
DEVICES = 20
"""At most, hidden in turn."""
PHONE = "Samsung Galaxy S24"
GPUS = ("rtx3090", "rtx4090", "rtx5090")
RUNTIMES = ("tflite", "qnn_dlc", "onnx")
PAR = {
    "timm-pair": (0.89, 0.042, 0.95, 0.025),
    "timm-model": (0.76, 0.071, 0.88, 0.045),
    "timm-family": (0.60, 0.119, 0.78, 0.07),
    "timm-new": (0.90, 0.040, 0.97, 0.025),
    "hub-pair": (0.74, 0.079, 0.85, 0.05),
    "hub-one": (0.72, 0.077, 0.82, 0.055),
    "hub-new": (0.61, 0.146, 0.75, 0.08),
}


@dataclass(frozen=True)
class World:
    """Results of one origin, the names of one device brought together."""

    cells: list[Cell]
    device: list[str]
    asked: list[bool]
    """Whether a cell belongs to the newest results, about which questions are asked."""


def world(path: Path, only_newest: bool) -> World:
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "dyno.duckdb")
        import_paths(store, [path], Wanted("auto", {}, {}), False, None)
        cells = newest(cells_of(store))
    table = Tabulator(cells).table(cells)
    first = twins(table)[table.attributes[:, DEVICE]]
    last = max(cell.year or 0.0 for cell in cells)
    asked = [not only_newest or (cell.year or 0.0) > last - 0.01 for cell in cells]
    return World(cells, [str(name) for name in first], asked)


Hidden = tuple[list[bool], list[int]]
"""Whether each cell is hidden, and those that are given beside the questions."""
Split = Callable[[World, np.random.Generator], Iterator[Hidden]]


def parts(groups: Sequence[object], asked: Sequence[bool], random: np.random.Generator) -> Iterator[Hidden]:
    """None is a group that is never hidden."""
    found = sorted(
        {group for group, wanted in zip(groups, asked, strict=True) if wanted and group is not None}, key=str
    )
    part = dict(zip(found, random.permutation(len(found)) % PARTS, strict=True))
    for one in range(PARTS):
        yield [part.get(group, -1) == one for group in groups], []


def hidden_by(key: Callable[[Cell, str], object]) -> Split:
    def split(of: World, random: np.random.Generator) -> Iterator[Hidden]:
        groups = [key(cell, device) for cell, device in zip(of.cells, of.device, strict=True)]
        return parts(groups, of.asked, random)

    return split


def base(cell: Cell) -> str:
    """The model without the name of its part: parts of one model tell about each other."""
    return cell.model.split()[0]


def one_phone(of: World, random: np.random.Generator) -> Iterator[Hidden]:
    phone = {device for cell, device in zip(of.cells, of.device, strict=True) if cell.device == PHONE}
    there = {cell.model for cell in of.cells if cell.device == PHONE}
    groups = [
        base(cell) if cell.model in there and device not in phone else None
        for cell, device in zip(of.cells, of.device, strict=True)
    ]
    return parts(groups, of.asked, random)


def new_device(platforms: tuple[str, ...]) -> Split:
    def split(of: World, random: np.random.Generator) -> Iterator[Hidden]:
        pairs = list(zip(of.cells, of.device, of.asked, strict=True))
        for one in sorted({device for cell, device, asked in pairs if asked and cell.platform in platforms}):
            rows = [place for place, (_, device, asked) in enumerate(pairs) if device == one and asked]
            if len(rows) > 5 * CALIBRATION:
                given = random.permutation(rows)[:CALIBRATION].tolist()
                yield [device == one for device in of.device], given

    return split


EXAMINATIONS: dict[str, Split] = {
    "timm-pair": hidden_by(lambda cell, device: (cell.model, device)),
    "timm-model": hidden_by(lambda cell, _: cell.model),
    "timm-family": hidden_by(lambda cell, _: cell.family),
    "timm-new": new_device(("cuda",)),
    "hub-pair": hidden_by(lambda cell, device: (base(cell), device)),
    "hub-one": one_phone,
    "hub-new": new_device(("qnn",)),
}
Answers = list[tuple[Cell, Prediction, float]]
"""Each with what a simple method says, or nan."""


def simple(known: Sequence[tuple[Cell, str]], asked: Sequence[tuple[Cell, str]]) -> list[float]:
    """The same work on the three devices that differ most steadily, shifted by the middle difference."""
    found: dict[object, dict[str, float]] = {}
    for cell, device in known:
        found.setdefault((cell.model, cell.work, cell.way), {})[device] = float(np.log(cell.value))

    @cache
    def shift(source: str, device: str, way: object) -> tuple[float, float] | None:
        """Of the same way where it was seen three times, else of all; and how much it varies."""
        both = [(key[2], each[device] - each[source]) for key, each in found.items() if {source, device} <= each.keys()]
        same = [off for one, off in both if one == way]
        offs = same if len(same) >= FEWEST_SHIFTS else [off for _, off in both]
        if len(offs) < FEWEST_SHIFTS:
            return None
        middle = float(np.median(offs))
        return middle, float(np.median(np.abs(np.asarray(offs) - middle))) + 0.15 / len(offs) ** 0.5

    told = []
    for cell, device in asked:
        there = found.get((cell.model, cell.work, cell.way), {})
        ways = [(there[one], shift(one, device, cell.way)) for one in there if one != device]
        best = sorted((by[1], value + by[0]) for value, by in ways if by)[:3]
        weights = [(spread + 0.03) ** -2 for spread, _ in best]
        told.append(float(np.exp(np.average([value for _, value in best], weights=weights))) if best else np.nan)
    return told


def examine(of: World, name: str, which: int, seed: int) -> Answers:
    """One part hidden, or one device. The operators that ran are asked for with the time: nobody knows them before."""
    random = np.random.default_rng(seed)
    hidden, given = next(islice(EXAMINATIONS[name](of, random), which, None), ([], []))
    if not hidden:
        return []
    predictor = Predictor.fit([cell for cell, gone in zip(of.cells, hidden, strict=True) if not gone])
    rows = [place for place, gone in enumerate(hidden) if gone and of.asked[place] and place not in given]
    rows = random.permutation(rows)[:QUESTIONS].tolist()
    asked = [replace(of.cells[row].asked(), operators=None) for row in rows]
    told = predictor.predict(asked, [of.cells[row] for row in given])
    seen = [place for place, gone in enumerate(hidden) if not gone] + given
    pairs = list(zip(of.cells, of.device, strict=True))
    beside = simple([pairs[place] for place in seen], [pairs[row] for row in rows])
    return [(of.cells[row], one, other) for row, one, other in zip(rows, told, beside, strict=True)]


def report(name: str, answers: Answers, seconds: float) -> bool:
    said = [(cell, one) for cell, one, _ in answers if one.value is not None and cell.value]
    off = np.abs([one.value / cell.value - 1 for cell, one in said])
    held = [one.low <= cell.value <= one.high for cell, one in said]
    width = np.median([np.sqrt(one.high / one.low) for _, one in said])
    within, middle = float((off < 0.15).mean()), float(np.median(off))
    silent = np.mean([one.abstained for _, one, _ in answers])
    par = PAR.get(name)
    beside = f"   par {par[0]:.0%} {par[1]:.1%}, goal {par[2]:.0%} {par[3]:.1%}" if par else ""
    print(
        f"{name:12} {len(answers):5} cells  within 15 % {within:6.1%}  median {middle:6.2%}  mean {off.mean():6.2%}  "
        f"held {np.mean(held):5.1%}  width {width:.2f}  abstained {silent:5.1%}  {seconds:4.0f} s{beside}",
        flush=True,
    )
    print_simple([abs(other / cell.value - 1) for cell, _, other in answers if cell.value and np.isfinite(other)])
    return par is None or (within >= par[0] and middle <= par[1])


def print_simple(off: Sequence[float]) -> None:
    if off:
        within = f"within 15 % {np.mean(np.asarray(off) < 0.15):6.1%}  median {np.median(off):6.2%}"
        print(f"{'  simple':12} {len(off):5} cells  {within}", flush=True)


def choices(
    answers: Answers,
    group: Callable[[Cell], object],
    option: Callable[[Cell], str],
    of: Sequence[str],
) -> None:
    """How often the option that is said to be fastest is so."""
    found: dict[object, dict[str, tuple[float, float]]] = {}
    for cell, one, _ in answers:
        if one.value and cell.value and option(cell) in of:
            found.setdefault(group(cell), {})[option(cell)] = (one.value, cell.value)
    whole = [each for each in found.values() if len(each) == len(of)]
    if not whole:
        return
    over = np.asarray([min(each.values())[1] / min(true for _, true in each.values()) for each in whole])
    shares = f"right {np.mean(over <= 1.0):.1%}, within 5 % {np.mean(over <= 1.05):.1%}"
    print(f"{'':12} best of {', '.join(of)}: {shares} of {len(whole)}", flush=True)


def cheapest(answers: Answers, random: np.random.Generator) -> None:
    """How often the slowest device that is said to meet a limit is the slowest that does: slower ones cost less."""
    found: dict[object, list[tuple[float, float, str]]] = {}
    for cell, one, _ in answers:
        if one.value and cell.value:
            found.setdefault((cell.model, cell.way), []).append((one.value, cell.value, cell.device))
    right = []
    for each in found.values():
        if len(each) > 2:
            limit = float(np.exp(random.uniform(np.log(min(e[1] for e in each)), np.log(max(e[1] for e in each)))))
            ranks = sorted(each, key=lambda e: -float(np.median([o[1] for o in each if o[2] == e[2]])))
            said = next((e[2] for e in ranks if e[0] <= limit), None)
            right.append(said == next((e[2] for e in ranks if e[1] <= limit), None))
    if right:
        print(f"{'':12} cheapest device that meets a limit: right {np.mean(right):.1%} of {len(right)}")


def in_turn(of: World, name: str, options: argparse.Namespace) -> Answers:
    most = DEVICES if name.endswith("-new") else options.parts
    with ProcessPoolExecutor(options.jobs, mp_context=get_context("spawn")) as pool:
        found = pool.map(examine, repeat(of), repeat(name), range(most), repeat(options.seed))
        return [answer for some in found for answer in some]


def choose(name: str, answers: Answers, seed: int) -> None:
    """What a choice by these answers would have been worth."""
    if name == "timm-model":
        choices(answers, lambda c: (c.model, c.work, c.runtime, c.setting), lambda c: c.device, GPUS)
    if name == "hub-pair":
        choices(answers, lambda c: (c.model, c.device, c.precision), lambda c: c.runtime, RUNTIMES)
    if name in ("hub-pair", "hub-one"):
        cheapest(answers, np.random.default_rng(seed))


LAYERS = {
    "bert_large": (24, 1024, 16, 30522),
    "gpt2_large": (36, 1280, 20, 50257),
    "gpt3_xl": (24, 2048, 24, 50257),
    "gpt3_27": (32, 2560, 32, 50257),
    "opt_13": (24, 2048, 32, 50272),
}
"""Layers, width, heads and vocabulary of NeuSight's models, as published."""


def neusight_cells(path: Path) -> list[Cell]:
    cells = []
    for row in csv.DictReader(path.open(newline="")):
        if row["src"] != "label" or row["variant"] or row["model"] not in LAYERS:
            continue
        layers, width, heads, words = LAYERS[row["model"]]
        seq, batch, passes = int(row["seq"]), int(row["batch"]), 3 if row["mode"] == "train" else 1
        operations = layers * (24 * seq * width**2 + 4 * seq**2 * width) + 2 * seq * width * words
        put_out = layers * seq * (17 * width + 2.5 * heads * seq)
        cells.append(
            Cell(
                model=row["model"],
                work=f"{row['mode']} seq={seq}",
                platform="rocm" if "AMD" in row["device"] else "cuda",
                device=row["device"].replace("_", " "),
                runtime="torch",
                precision="fp32",
                setting=row["mode"],
                batch=batch,
                gflop=passes * operations / 1e9,
                activations=passes * put_out / 1e6,
                parameters=(12 * layers * width**2 + words * width) / 1e6,
                value=float(row["e2e_latency"]) / batch,
            )
        )
    return cells


def neusight(path: Path) -> None:
    """Each pair of model and device hidden in turn."""
    cells = neusight_cells(path)
    for mode in ("inf", "train"):
        answers = []
        begin = time.perf_counter()
        for pair in sorted({(cell.model, cell.device) for cell in cells if cell.setting == mode}):
            known = [cell for cell in cells if (cell.model, cell.device) != pair]
            asked = [cell for cell in cells if (cell.model, cell.device) == pair and cell.setting == mode]
            told = Predictor.fit(known).predict([cell.asked() for cell in asked])
            answers += list(zip(asked, told, repeat(np.nan)))
        report(f"neusight-{mode}", answers, time.perf_counter() - begin)


def own(path: Path) -> None:
    """Our own results: each model hidden in turn, then each platform."""
    cells = [cell for cell in world(path, only_newest=False).cells if cell.work.startswith("inference")]
    for name, key in (("own-model", lambda cell: cell.model), ("own-platform", lambda cell: cell.platform)):
        answers = []
        begin = time.perf_counter()
        groups = sorted({key(cell) for cell in cells})
        for hidden in groups if len(groups) > 1 else ():
            asked = [cell for cell in cells if key(cell) == hidden]
            known = [cell for cell in cells if key(cell) != hidden]
            told = Predictor.fit(known).predict([cell.asked() for cell in asked])
            answers += list(zip(asked, told, repeat(np.nan)))
        if answers:
            report(name, answers, time.perf_counter() - begin)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("data", type=Path)
    parser.add_argument("--only", default="", help="examinations, comma-separated")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", type=int, default=2, help="of the eight, hidden in turn")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--own", type=Path, help="a folder of our own results, examined too")
    options = parser.parse_args()
    only = [word for word in options.only.split(",") if word]
    files = {"timm": "timm/inference_dev.parquet", "hub": "qualcomm_ai_hub/dev_history.parquet"}
    worlds: dict[str, World] = {}
    good = True
    for name in EXAMINATIONS:
        if only and name not in only:
            continue
        origin = name.split("-")[0]
        if origin not in worlds:
            worlds[origin] = world(options.data / files[origin], only_newest=origin == "hub")
        begin = time.perf_counter()
        answers = in_turn(worlds[origin], name, options)
        good &= report(name, answers, time.perf_counter() - begin)
        choose(name, answers, options.seed)
    if not only or "neusight" in only:
        neusight(options.data / "neusight" / "e2e_labels_and_predictions.csv")
    if options.own:
        own(options.own)
    sys.exit(int(not good))


if __name__ == "__main__":
    main()
