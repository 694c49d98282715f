"""Pool: many users of few models that are shared, and what the sharing is worth."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor

from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, MetricValue, Outcome, OutputCheck, Passport, Samples, Status
from modeldyno.pool import Loader, Pool
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._judged import judged
from modeldyno.workloads._outputs import check_outputs
from modeldyno.workloads._placement import fallback_check, proven
from modeldyno.workloads._pool import trials
from modeldyno.workloads._pool.cast import BESIDE, USERS, Cast, cast_of, others_of
from modeldyno.workloads._pool.rounds import InTurn, Together, side_by_side
from modeldyno.workloads._sampled import sampled
from modeldyno.workloads.inference import MEMBER as INFERENCE
from modeldyno.workloads.inference import source_of, versions, wrong_outputs


class PoolWorkload:
    """One load for all, outputs, rounds together and in turn, a failure, memory, eviction: in this order."""

    name = "pool"
    options = frozenset({BESIDE, USERS})
    ranked = False
    shows = (
        "throughput_per_s",
        "sequential_per_s",
        "concurrency_gain",
        "memory_shared_mb",
        "memory_unshared_mb",
        "recovery_ms",
    )

    def check(self, case: Case) -> None:
        cast_of(case)

    def prepare(self, case: Case, note: Callable[[str], None]) -> Outcome:
        """What each model needs, as for inference."""
        begin, cast = time.perf_counter(), cast_of(case)
        INFERENCE.prepare(cast.mine, note)
        for other in others_of(cast):
            INFERENCE.prepare(other, note)
        elapsed = MetricValue(value=(time.perf_counter() - begin) * 1e3)
        return Outcome(status=Status.OK, metrics={"prepare_ms": elapsed})

    def run(self, bench: Bench) -> Outcome:
        cast = cast_of(bench.case)
        with Pool(loader=Loader(lambda _: bench.session)) as pool:
            bench.note("loading")
            if bench.trial:
                for case in cast.models:
                    trials.use(pool, case)
                return Outcome(status=Status.OK)
            found = [trials.loads_at_once(pool, cast)]
            checks: list[OutputCheck] = []
            for case, check in _checked(pool, cast):
                checks.append(check)
                if not check.passed:
                    with pool.borrow(case) as loaded:
                        return wrong_outputs(bench, source_of(case), loaded, check)
            bench.note("measuring")
            samples, trust = _measured(bench, pool, cast)
            with pool.borrow(cast.mine) as loaded:
                load_ms, placement = loaded.load_ms, proven(loaded.placement(), cast.mine.precision)
        bench.note("failure, memory, eviction")
        others = others_of(cast)
        found += [
            trials.recovery(bench, cast.mine, others),
            trials.sharing(bench, cast),
            trials.budget(bench, (cast.mine, *others)),
        ]
        trust = Passport.of((*trust.checks, *(c for tried in found for c in tried.checks), fallback_check(placement)))
        return judged(
            trust,
            device=bench.session.device,
            model=source_of(cast.mine).info,
            placement=placement,
            check=checks[0],
            metrics={
                "load_ms": MetricValue(value=load_ms),
                "items": MetricValue(value=cast.users * cast.mine.batch, note=f"{cast.users} users"),
                **{name: value for tried in found for name, value in tried.metrics.items()},
            },
            samples=samples.model_copy(
                update={"parts": {**samples.parts, **{n: v for tried in found for n, v in tried.parts.items()}}}
            ),
            software=versions(RUNTIMES.get(bench.case.runtime).packages()),
        )


def _checked(pool: Pool, cast: Cast) -> Iterator[tuple[Case, OutputCheck]]:
    """Every model's outputs, as a borrower gets them."""
    for case in cast.models:
        source = source_of(case)
        with pool.borrow(case) as loaded:
            outputs = loaded.outputs()
        yield case, check_outputs(outputs, source.reference(), case.precision, source.rounding(case.precision))


def _measured(bench: Bench, pool: Pool, cast: Cast) -> tuple[Samples, Passport]:
    """Rounds of all users together, and as parts of them what the same work in turn says."""
    with ThreadPoolExecutor(cast.users) as crew:
        together, in_turn = Together(pool, cast.uses(), crew), InTurn(pool, cast.uses())
        samples, trust = sampled(bench, together)
        pairs = side_by_side(bench.session, together, in_turn, bench.policy)
    items = cast.users * cast.mine.batch
    parts = {
        "sequential_per_s": [items * 1e3 / pair.in_turn_ms for pair in pairs],
        "concurrency_gain": [pair.in_turn_ms / pair.together_ms for pair in pairs],
        **in_turn.read(),
    }
    return samples.model_copy(update={"parts": parts}), trust


MEMBER = PoolWorkload()
