"""The promises of the pool, each tried for real: one load for many, isolation and recovery, sharing, the budget."""

from __future__ import annotations

import contextlib
import gc
import threading
import time
from collections.abc import Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass, field

from modeldyno.core.errors import JobError
from modeldyno.core.protocols import Bench, Session, Step
from modeldyno.core.types import Case, Check, MetricValue, Verdict
from modeldyno.pool import Loader, Pool, PoolState, TooLarge
from modeldyno.pool.memory import account_of, memory_mb
from modeldyno.workloads._pool.bystander import Span, bystander
from modeldyno.workloads._pool.cast import Cast
from modeldyno.workloads._pool.fault import FaultyLoader, InjectedFault

RECOVERIES = 3
COPIES = 4
"""Users whose memory is measured with a model each; more would only be more of the same."""
SMALLEST_MB = 4.0
"""Resident memory moves by some hundred KB by itself; a budget between models smaller than this would be noise."""
SLACK_MB = 8.0
"""The most a process may grow by beside its models."""
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
        _at_once(crew, [lambda: use(pool, cast.mine)] * cast.users)
    loads = pool.state().loads
    note = f"{cast.users} requests at one time"
    return Tried({"loads": MetricValue(value=loads, note=note)}, (_judged("loads", loads, 1, loads == 1),))


def recovery(bench: Bench, mine: Case, others: Sequence[Case]) -> Tried:
    """The model is made to fail while somebody works with another one, where there is one, and is borrowed again."""
    loader = FaultyLoader(lambda _: bench.session, mine)
    with Pool(loader=loader) as pool, contextlib.ExitStack() as stack:
        other = stack.enter_context(bystander(pool, others[0])) if others else None
        use(pool, mine)
        spans: list[Span] = []
        went_on = 0
        for _ in range(RECOVERIES):
            loader.arm()
            spans.append(_recovered(pool, mine, bench.session))
            went_on += other is not None and other.went_on(spans[-1])
    times = [(span.ended - span.begun) * 1e3 for span in spans]
    checks = (_judged("others_went_on", went_on, RECOVERIES, went_on == RECOVERIES),) if others else ()
    return Tried(checks=checks, parts={"recovery_ms": times})


def sharing(bench: Bench, cast: Cast) -> Tried:
    """Memory of a few users with one model, and with a model each: what comes back when the models go.

    Read the other way round, libraries and threads that take their own on first use would be in it."""
    users, loader = min(cast.users, COPIES), Loader(lambda _: bench.session)
    note = f"{users} users"
    with ThreadPoolExecutor(users) as crew:
        with Pool(loader=loader) as pool:
            _at_once(crew, [lambda: use(pool, cast.mine)] * users)
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


def budget(bench: Bench, everyone: Sequence[Case]) -> Tried:
    """All models in turn, twice, in a pool that has room for all but one: each but the first few pushes one out."""
    if len(everyone) < 2:
        return _no_evictions("there is no second model, and no smaller size of this one; name one with beside")
    loader = Loader(lambda _: bench.session)
    sizes = [_size_mb(loader, case, bench.session) for case in everyone]
    if min(sizes) < SMALLEST_MB:
        return _no_evictions(f"a model takes less than {SMALLEST_MB:g} MB, too little for a budget to be kept by")
    limit = _limit_mb(sizes)
    before, most = _settled_mb(bench.session), 0.0
    with Pool(limit, loader=loader) as pool:
        try:
            for case in (*everyone, *everyone):
                use(pool, case)
                most = max(most, memory_mb(bench.session) - before)
        except TooLarge:
            return _no_evictions("a model was read as larger than all but one before: memory is not quiet here")
        state = pool.state()
    kept = _kept(state, account_of(bench.session), sizes, most)
    note = f"{len(everyone)} models twice in turn, room for {limit:.1f} MB"
    metrics = {"evictions": MetricValue(value=state.evictions, note=note)}
    return Tried(metrics, (_judged("budget_mb", round(most, 1), round(limit, 1), kept),))


def _kept(state: PoolState, account: str, sizes: Sequence[float], most_mb: float) -> bool:
    """Any but all of the models fit, so the last one of the first turn and each of the second pushes one out. The slack
    is less than half of the smallest model, else a pool that holds them all would pass."""
    limit, slack = _limit_mb(sizes), min(SLACK_MB, min(sizes) / 4)
    within = state.peak_mb[account] <= limit and most_mb <= limit + slack
    return within and state.evictions == len(sizes) + 1


def _limit_mb(sizes: Sequence[float]) -> float:
    """Half of the smallest model short of room for all; each model alone fits well."""
    return sum(sizes) - min(sizes) / 2


def _no_evictions(note: str) -> Tried:
    return Tried({"evictions": MetricValue(value=None, note=note)})


def _recovered(pool: Pool, case: Case, session: Session) -> Span:
    """From the moment the failure is known until the model has done a step again."""
    try:
        use(pool, case)
    except InjectedFault:
        begin = time.perf_counter()
    else:
        raise JobError("The injected failure did not reach the borrower; report this as a fault of modeldyno.")
    with pool.borrow(case) as loaded:
        session.lap(loaded.step, 1)
    return Span(begin, time.perf_counter())


def _at_once(crew: Executor, works: Sequence[Step]) -> None:
    """Each in a thread of its own, all beginning at one moment; the crew has a thread for each."""
    start = threading.Barrier(len(works))

    def begin(work: Step) -> None:
        start.wait()
        work()

    for _ in crew.map(begin, works):
        pass


def _size_mb(loader: Loader, case: Case, session: Session) -> float:
    """What the pool books for it or what comes back when it goes, whichever is more."""
    model = loader.load(case)
    taken, booked = _settled_mb(session), model.mb
    del model
    return max(booked, taken - _settled_mb(session))


def _settled_mb(session: Session) -> float:
    gc.collect()
    return memory_mb(session)


def use(pool: Pool, case: Case) -> None:
    with pool.borrow(case) as loaded:
        loaded.step()


_ADVICE = {
    "loads": "the pool loaded the model more than once: report this as a fault of modeldyno",
    "others_went_on": "the other model stood still while one failed: measure again on a quiet machine",
    "budget_mb": "the pool took more than its budget or did not let go as it should: measure again on a quiet machine",
}


def _judged(name: str, value: float, limit: float, good: bool) -> Check:
    return Check(
        name=name,
        value=value,
        limit=limit,
        verdict=Verdict.VALID if good else Verdict.INVALID,
        advice=None if good else _ADVICE[name],
    )
