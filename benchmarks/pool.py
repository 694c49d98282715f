"""What is a pool worth beside the naive way, in which every thread loads a model of its own?

    python benchmarks/pool.py [MODEL] [--users 16] [--threads 1] [--tries 3]

Each way in a fresh process, by turns. `Ready` is the time from the first request until every user has had an answer,
memory is what the process grew by since the libraries were imported, and the rate is that of rounds in which every
user asks once. Both ways build the model alike, and both one at a time, for the libraries build through global
switches: only how often it is built differs.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier, Lock, local
from typing import Any

from modeldyno import models
from modeldyno.core.cores import available_cores
from modeldyno.core.types import Case, Weights
from modeldyno.platforms import PLATFORMS
from modeldyno.pool import Pool
from modeldyno.pool.memory import memory_mb

ROUNDS = 20
Ask = Callable[[], None]


def pooled(model: str, threads: int) -> Ask:
    pool, spec = Pool(), models.resolve(model)
    case = Case(
        model=spec.name,
        platform="cpu",
        runtime="torch",
        shape=dict(spec.axes),
        weights=Weights.RANDOM,
        options={"threads": threads},
    )

    def ask() -> None:
        with pool.borrow(case) as loaded:
            loaded.step()

    return ask


def naive(model: str, threads: int) -> Ask:
    import torch

    torch.set_num_threads(threads)
    spec, own, building = models.resolve(model), local(), Lock()
    source = models.prepare(spec, 1, dict(spec.axes), Weights.RANDOM)
    inputs = {name: torch.from_numpy(array) for name, array in source.inputs().items()}

    def load() -> Any:
        with building:
            models.release()  # else all would get the one that was built last
            return source.torch_model()

    def ask() -> None:
        if not hasattr(own, "model"):
            own.model = load()
        with torch.inference_mode():
            own.model(**inputs)

    return ask


WAYS: dict[str, Callable[[str, int], Ask]] = {"pool": pooled, "naive": naive}


def measure(way: str, model: str, users: int, threads: int) -> dict[str, float]:
    import torch  # noqa: F401 - before the first reading
    import transformers.modeling_utils  # noqa: F401

    ask, start = WAYS[way](model, threads), Barrier(users)
    session = PLATFORMS.get("cpu").open(0)
    before = memory_mb(session)

    def first(_: int) -> None:
        start.wait()  # each user in a thread of its own
        ask()

    with ThreadPoolExecutor(users) as crew:
        begin = time.perf_counter()
        list(crew.map(first, range(users)))
        ready = time.perf_counter() - begin
        taken = memory_mb(session) - before
        begin = time.perf_counter()
        for _ in range(ROUNDS):
            list(crew.map(first, range(users)))
        rate = ROUNDS * users / (time.perf_counter() - begin)
    return {"ready_s": ready, "memory_mb": taken, "per_s": rate}


def in_fresh_process(way: str, model: str, users: int, threads: int) -> dict[str, float]:
    command = [sys.executable, __file__, model, "--users", str(users), "--threads", str(threads), "--way", way]
    quiet = {**os.environ, "OMP_WAIT_POLICY": "PASSIVE"}
    answer = subprocess.run(command, check=True, capture_output=True, text=True, env=quiet).stdout
    return dict(json.loads(answer.splitlines()[-1]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="bert-base-uncased")
    parser.add_argument("--users", type=int, default=16)
    parser.add_argument("--threads", type=int, default=available_cores(), help="of one step; default: all cores")
    parser.add_argument("--tries", type=int, default=3)
    parser.add_argument("--way", choices=WAYS, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.way:
        print(json.dumps(measure(options.way, options.model, options.users, options.threads)))
        return
    found: dict[str, list[dict[str, float]]] = {way: [] for way in WAYS}
    for number in range(options.tries):
        for way in list(WAYS)[:: 1 if number % 2 else -1]:
            found[way].append(in_fresh_process(way, options.model, options.users, options.threads))
    print(f"{options.model}, {options.users} users, {options.threads} threads a step, median of {options.tries} tries")
    print(f"{'':8}{'ready s':>10}{'memory MB':>12}{'items/s':>10}")
    for way, tries in found.items():
        ready, memory, rate = (statistics.median(each[name] for each in tries) for name in tries[0])
        print(f"{way:8}{ready:>10.2f}{memory:>12.1f}{rate:>10.1f}")


if __name__ == "__main__":
    main()
