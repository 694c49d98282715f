"""The promises of the pool, each tried for real: one load for many, isolation and recovery, sharing, the budget."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from modeldyno.core.errors import JobError
from modeldyno.core.protocols import Bench, Session, Step
from modeldyno.core.types import Case, Check, MetricValue, Verdict
from modeldyno.pool import Loader, Pool
from modeldyno.pool.memory import account_of, memory_mb
from modeldyno.workloads._pool.cast import Cast
from modeldyno.workloads._pool.fault import FaultyLoader, InjectedFault

RECOVERIES = 3
COPIES = 4
"""Users whose memory is measured with a model each; more would only be more of the same."""
SMALLEST_MB = 0.25
"""Readings of resident memory are no finer; a budget between models smaller than this would be noise."""
SLACK_MB = 8.0
"""What a process may grow by beside its models."""
Metrics = dict[str, MetricValue]


@dataclass(frozen=True)
class Tried:
    """What a trial found."""

    metrics: Metrics = field(default_factory=dict)
    checks: tuple[Check, ...] = ()
    parts: dict[str, list[float]] = field(default_factory=dict)


def loads_at_once(pool: Pool, cast: Cast) -> Tried:
    """All users ask for the model at one moment, when nobody has it."""
    with ThreadPoolExecutor(cast.users) as crew:
        _at_once(crew, [lambda: _use(pool, cast.mine)] * cast.users)
    loads = pool.state().loads
    note = f"{cast.users} requests at one time"
    return Tried({"loads": MetricValue(value=loads, note=note)}, (_judged("loads", loads, 1, loads == 1),))


def recovery(bench: Bench, cast: Cast) -> Tried:
    """The model is made to fail while somebody works with another one, and is borrowed again."""
    loader = FaultyLoader(lambda _: bench.session, cast.mine)
    times: list[float] = []
    with Pool(loader=loader) as pool, _bystander(pool, cast.others[0]) as steps:
        _use(pool, cast.mine)
        seen = len(steps)
        for _ in range(RECOVERIES):
            loader.arm()
            times.append(_recovered_ms(pool, cast.mine, bench.session))
        went_on = len(steps) - seen
    check = _judged("others_went_on", went_on, 1, went_on >= 1)
    return Tried(checks=(check,), parts={"recovery_ms": times})


def sharing(bench: Bench, cast: Cast) -> Tried:
    """Memory of a few users with one model, and with a model each: what comes back when the models go.

    Read the other way round, libraries and threads that take their own on first use would be in it."""
    users, loader = min(cast.users, COPIES), Loader(lambda _: bench.session)
    note = f"{users} users"
    with ThreadPoolExecutor(users) as crew:
        with Pool(loader=loader) as pool:
            _at_once(crew, [lambda: _use(pool, cast.mine)] * users)
            with_one = _settled_mb(bench.session)
        without = _settled_mb(bench.session)
        copies = [loader.load(cast.mine).loaded for _ in range(users)]
        _at_once(crew, [copy.step for copy in copies])
        with_copies = _settled_mb(bench.session)
        copies.clear()
        without_copies = _settled_mb(bench.session)
    return Tried(
        {
            "memory_shared_mb": MetricValue(value=with_one - without, note=note),
            "memory_unshared_mb": MetricValue(value=with_copies - without_copies, note=note),
        }
    )


def budget(bench: Bench, cast: Cast) -> Tried:
    """All models in turn, twice, in a pool that has room for all but one."""
    loader, everyone = Loader(lambda _: bench.session), (cast.mine, *cast.others)
    sizes = [_size_mb(loader, case, bench.session) for case in everyone]
    if min(sizes) < SMALLEST_MB:
        note = f"a model takes less than {SMALLEST_MB} MB, too little for a budget to be kept by"
        return Tried({"evictions": MetricValue(value=None, note=note)})
    limit = sum(sizes) - min(sizes) / 2
    before, most = _settled_mb(bench.session), 0.0
    with Pool(limit, loader=loader) as pool:
        for case in everyone * 2:
            _use(pool, case)
            most = max(most, memory_mb(bench.session) - before)
        state = pool.state()
    kept = state.peak_mb[account_of(bench.session)] <= limit and most <= limit + SLACK_MB
    note = f"{len(everyone)} models twice in turn, room for {limit:.1f} MB"
    metrics = {"evictions": MetricValue(value=state.evictions, note=note)}
    return Tried(metrics, (_judged("budget_mb", round(most, 1), round(limit, 1), kept),))


@contextlib.contextmanager
def _bystander(pool: Pool, case: Case) -> Iterator[list[float]]:
    """A user of another model, at work all the while; its errors are errors of the case."""
    steps: list[float] = []
    begun, enough = threading.Event(), threading.Event()

    def work() -> None:
        try:
            while not enough.is_set():
                _use(pool, case)
                steps.append(time.perf_counter())
                begun.set()
        finally:
            begun.set()

    with ThreadPoolExecutor(1) as crew:
        working = crew.submit(work)
        begun.wait()
        try:
            yield steps
        finally:
            enough.set()
        working.result()


def _recovered_ms(pool: Pool, case: Case, session: Session) -> float:
    """From the moment the failure is known until the model has done a step again."""
    try:
        _use(pool, case)
    except InjectedFault:
        begin = time.perf_counter_ns()
    else:
        raise JobError("The injected failure did not reach the borrower; report this as a fault of modeldyno.")
    with pool.borrow(case) as loaded:
        session.lap(loaded.step, 1)
    return (time.perf_counter_ns() - begin) / 1e6


def _at_once(crew: Executor, works: Sequence[Step]) -> None:
    """Each in a thread of its own, all beginning at one moment; the crew has a thread for each."""
    start = threading.Barrier(len(works))

    def begin(work: Step) -> None:
        start.wait()
        work()

    for _ in crew.map(begin, works):
        pass


def _size_mb(loader: Loader, case: Case, session: Session) -> float:
    """What comes back when the model goes."""
    model = loader.load(case)
    taken = _settled_mb(session)
    del model
    return taken - _settled_mb(session)


def _settled_mb(session: Session) -> float:
    gc.collect()
    return memory_mb(session)


def _use(pool: Pool, case: Case) -> None:
    with pool.borrow(case) as loaded:
        loaded.step()


_ADVICE = {
    "loads": "the pool loaded the model more than once: report this as a fault of modeldyno",
    "others_went_on": "the other model stood still while one failed: measure again on a quiet machine",
    "budget_mb": "the pool took more than its budget: measure again on a quiet machine",
}


def _judged(name: str, value: float, limit: float, good: bool) -> Check:
    return Check(
        name=name,
        value=value,
        limit=limit,
        verdict=Verdict.VALID if good else Verdict.INVALID,
        advice=None if good else _ADVICE[name],
    )
