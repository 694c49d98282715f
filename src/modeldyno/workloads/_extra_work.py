"""A slowdown on purpose, made of real work: to see whether a comparison or a history finds it."""

from __future__ import annotations

import time
from statistics import median

import numpy as np

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.protocols import Bench, Loaded, Session, Step, TimesDevice, TimesItself

EXTRA_WORK = "extra_work"
"""Option of a case: the share of its own time that each step works longer."""
_PAIRS = 15
_TRIAL = 0.5
_VALUES = 1_024
"""So few that they leave the caches to the model."""


def with_extra_work(bench: Bench, loaded: Loaded) -> Step:
    """The step as it is, or with as much arithmetic on the host after it as the case asks for."""
    share = bench.case.options.get(EXTRA_WORK, 0)
    if not isinstance(share, int | float) or isinstance(share, bool) or not 0 <= share <= 10:
        raise InputError(f"The option {EXTRA_WORK} is a share from 0 to 10, not {share!r}; write for example 0.05.")
    if not share:
        return loaded.step
    if isinstance(bench.session, TimesDevice) or isinstance(loaded, TimesItself):
        raise Unsupported("extra work is done on the host, and this device works behind it", "use the cpu platform")
    return _longer(loaded.step, _count(bench.session, loaded.step, share))


def _longer(step: Step, count: int) -> Step:
    def longer() -> None:
        step()
        _work(count)

    return longer


_SOURCE, _TARGET = np.ones(_VALUES, dtype=np.float32), np.empty(_VALUES, dtype=np.float32)


def _work(count: int) -> None:
    for _ in range(count):
        np.sqrt(_SOURCE, out=_TARGET)


def _count(session: Session, step: Step, share: float) -> int:
    """How often the unit of work fits into this share of a step: a guess, held against what it really adds.

    Steps with and without are timed in turns, so that the host's noise hits both; what is added is large, so that it
    stands out of the noise."""
    session.lap(step, 3)
    trial = max(share, _TRIAL)
    guess = max(1, round(trial * median(session.lap(step, 1).host_ns / _unit_ns() for _ in range(_PAIRS))))
    longer = _longer(step, guess)
    added = median(session.lap(longer, 1).host_ns / session.lap(step, 1).host_ns - 1 for _ in range(_PAIRS))
    return max(1, round(guess * share / (added if added > trial / 10 else trial)))


def _unit_ns(repeats: int = 50) -> float:
    begin = time.perf_counter_ns()
    _work(repeats)
    return max(1.0, (time.perf_counter_ns() - begin) / repeats)
