"""Does the harness change what it measures? Its median against a hand-written loop, same model, same process.

    python benchmarks/overhead.py [MODEL] [--tries 5] [--on cpu]

Prints the ratio of each try and their median. Short blocks of the two loops alternate and each is held against its
neighbour, so that whatever slows the machine for a second slows both alike.
"""

from __future__ import annotations

import argparse
import statistics
import time

from modeldyno import models
from modeldyno.core.policy import policy
from modeldyno.core.types import Case, Weights
from modeldyno.measure import loop
from modeldyno.platforms import PLATFORMS
from modeldyno.runtimes import RUNTIMES

BLOCKS = 40


def by_hand(step, samples: int) -> list[float]:
    """What anybody would write."""
    times = []
    for _ in range(samples):
        begin = time.perf_counter()
        step()
        times.append((time.perf_counter() - begin) * 1e3)
    return times


def one_try(session, step, rules) -> list[tuple[float, float]]:
    """The median of the harness and of the loop by hand in each pair of neighbouring blocks."""

    def harness() -> float:
        return statistics.median(loop.sample(session, step, rules).host_ms)

    def hand() -> float:
        return statistics.median(by_hand(step, rules.samples))

    pairs = []
    for block in range(BLOCKS):
        if block % 2:
            pairs.append((harness(), hand()))
        else:
            second = hand()
            pairs.append((harness(), second))
    return pairs


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("model", nargs="?", default="bert-base-uncased")
    parser.add_argument("--on", default="cpu")
    parser.add_argument("--runtime", default="torch")
    parser.add_argument("--tries", type=int, default=5)
    options = parser.parse_args()
    session = PLATFORMS.get(options.on).open(0)
    spec = models.resolve(options.model)
    shape = dict(spec.axes)
    case = Case(model=spec.name, platform=options.on, runtime=options.runtime, shape=shape)
    source = models.prepare(spec, 1, shape, Weights.RANDOM)
    loaded = RUNTIMES.get(options.runtime).load(source, session, case)
    rules = policy("quick").model_copy(update={"samples": 5, "warmup_max_s": 0.0})
    by_hand(loaded.step, 5)
    ratios = []
    for number in range(options.tries):
        pairs = one_try(session, loaded.step, rules)
        harness, hand = (statistics.median(side) for side in zip(*pairs, strict=True))
        ratios.append(statistics.median(ours / theirs for ours, theirs in pairs))
        print(f"try {number + 1}: harness {harness:.3f} ms, by hand {hand:.3f} ms, ratio {ratios[-1]:.4f}", flush=True)
    print(f"median ratio {statistics.median(ratios):.4f} over {options.tries} tries of {options.model}")


if __name__ == "__main__":
    main()
