"""Does the harness change what a training step takes? Its median against a hand-written loop, in the same process.

    python benchmarks/training.py [MODEL] [--tries 5] [--on cpu] [--batch 8] [--precision fp32]

Prints the ratio of each try and their median. Each side has a model and an optimizer of its own with the same weights.
Short blocks of the two alternate and each is held against its neighbour, so that whatever slows the machine for a
second slows both alike. Both discard as many steps at the beginning of a block, and collect garbage before it only.
"""

from __future__ import annotations

import argparse
import statistics
import time
from itertools import cycle

from modeldyno import models
from modeldyno.core.policy import policy
from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, Weights
from modeldyno.measure import loop
from modeldyno.platforms import PLATFORMS
from modeldyno.workloads._training.setup import Setup
from modeldyno.workloads.training import Steps

BLOCKS = 20
SAMPLES = 5


def by_hand(setup: Setup, batches: list, discarded: int):
    """What anybody would write."""
    import torch

    models.release()
    model = models.learner(models.resolve(setup.case.model), Weights.RANDOM, seed=0)
    model = model.to(device=setup.site.address, dtype=setup.site.dtype).train()
    optimizer = torch.optim.AdamW(model.parameters(), lr=setup.settings.rate)
    wait = torch.accelerator.synchronize if torch.accelerator.is_available() else lambda: None

    def one(batch: dict) -> float:
        begin = time.perf_counter()
        optimizer.zero_grad()
        setup.lesson.answer(model, batch).loss.backward()
        optimizer.step()
        wait()
        return (time.perf_counter() - begin) * 1e3

    turn = cycle(batches)

    def block() -> float:
        with loop.no_garbage_collection():
            times = [one(next(turn)) for _ in range(discarded + SAMPLES)]
        return statistics.median(times[discarded:])

    return block


def harness(setup: Setup, steps: Steps):
    rules = setup.bench.policy
    return lambda: statistics.median(loop.sample(setup.bench.session, steps, rules).host_ms)


def one_try(ours, theirs) -> list[tuple[float, float]]:
    """The medians of both in each pair of neighbouring blocks, which one goes first by turns."""
    pairs = []
    for block in range(BLOCKS):
        if block % 2:
            pairs.append((ours(), theirs()))
        else:
            second = theirs()
            pairs.append((ours(), second))
    return pairs


def setup_of(options: argparse.Namespace) -> Setup:
    spec = models.resolve(options.model)
    case = Case(
        workload="training",
        model=spec.name,
        platform=options.on,
        runtime="torch",
        precision=options.precision,
        batch=options.batch,
        shape=dict(spec.axes),
        weights=Weights.RANDOM,
    )
    rules = policy("quick").model_copy(update={"samples": SAMPLES, "warmup_max_s": 0.0, "max_time_s": 0.0})
    return Setup.of(Bench(case, rules, PLATFORMS.get(options.on).open(0), 0, True, lambda _: None))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="bert-tiny")
    parser.add_argument("--on", default="cpu")
    parser.add_argument("--batch", type=int, default=8)
    parser.add_argument("--precision", default="fp32")
    parser.add_argument("--tries", type=int, default=5)
    options = parser.parse_args()
    setup = setup_of(options)
    steps = Steps(setup.trainer())
    ours = harness(setup, steps)
    ours()
    before = steps.count
    ours()
    theirs = by_hand(setup, [of_step[0] for of_step in steps.batches], steps.count - before - SAMPLES)
    theirs()
    ratios = []
    for number in range(options.tries):
        pairs = one_try(ours, theirs)
        mine, hand = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratios.append(statistics.median(a / b for a, b in pairs))
        print(f"try {number + 1}: harness {mine:.3f} ms, by hand {hand:.3f} ms, ratio {ratios[-1]:.4f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.4f} over {options.tries} tries of {options.model}")


if __name__ == "__main__":
    main()
