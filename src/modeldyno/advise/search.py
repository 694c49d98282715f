"""Finds the largest batch that keeps the limits by measuring: doubling until one is missed, then halving the gap."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from modeldyno.advise.candidates import Market, measured
from modeldyno.advise.configure import Configuration, Demand
from modeldyno.advise.wishes import Goal, Wishes
from modeldyno.analysis.scaling import KNEE_GAIN
from modeldyno.core.types import Case, Precision, Record, Status
from modeldyno.models import resolve
from modeldyno.platforms import PLATFORMS

LARGEST = 1024
CLOSE = 4
"""The gap is closed to a fourth of the batch found."""
FP32 = Precision.FP32.value
Measure = Callable[[int], Record]
"""The record of a batch size: one that is known already, else a fresh one."""


def cases_to_search(made: Configuration) -> list[Case]:
    """Each runtime and precision that is asked for; where neither is, those that were measured, and at least the
    platform's first runtime in fp32."""
    demand, known = made.demand, [one.record.case for one in made.tried if one.record]
    platform, model = PLATFORMS.get(demand.platform), resolve(demand.model).name
    runtimes = demand.runtimes or (platform.runtimes[0], *_names(known, "runtime"))
    precisions = demand.precisions or (FP32, *_names(known, "precision"))
    base = Case(
        model=model, platform=platform.name, runtime=runtimes[0], index=demand.index, shape=dict(made.work.shape)
    )
    ways = [
        {"runtime": one, "precision": other} for one in dict.fromkeys(runtimes) for other in dict.fromkeys(precisions)
    ]
    cases = [base.model_copy(update=way) for way in ways]
    return [case for case in cases if platform.refuses(case) is None]


def _names(known: Sequence[Case], part: str) -> list[str]:
    return [getattr(case, part) for case in known]


def search(demand: Demand, measure: Measure) -> None:
    """Measures what is needed to tell; the records say the rest."""
    good, batch = None, 1
    while batch <= LARGEST:
        record = measure(batch)
        if not _keeps(demand, record):
            _close_in(demand, measure, good.case.batch if good else 0, batch)
            return
        if good and not demand.by_latency and not _pays(good, record):
            return
        good, batch = record, 2 * batch


def _close_in(demand: Demand, measure: Measure, low: int, high: int) -> None:
    while high - low > max(1, low // CLOSE):
        middle = (low + high) // 2
        if _keeps(demand, measure(middle)):
            low = middle
        else:
            high = middle


def _keeps(demand: Demand, record: Record) -> bool:
    if record.status is not Status.OK:
        return False
    (one,) = measured([record], Wishes(Goal.THROUGHPUT, demand.wishes.limits), Market())
    return one.holds is True


def _pays(smaller: Record, larger: Record) -> bool:
    """Whether doubling added the share of throughput that a knee is told by."""
    before, after = (record.value(Goal.THROUGHPUT.metric) or 0.0 for record in (smaller, larger))
    return after >= before * (1 + KNEE_GAIN)
