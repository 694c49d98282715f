"""How long an order may take, from how long its like took before; nothing is said of what was never measured."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from statistics import fmean

from modeldyno.core.types import Case, Record, Status
from modeldyno.runner.plan import make_plan
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.web.jobs.order import Order, cases_of

NEWEST = 300
"""Records to look at."""
_FEW = 5
"""Newest records of the same model and platform, where the case itself was never measured."""


def estimate(order: Order, store: Store) -> float | None:
    """Seconds; None where a case that can run has no like among the newest records."""
    cases = [case for group in make_plan(cases_of(order)).groups for case in group]
    if not cases:
        return 0.0
    records = _alike(order, cases, store) if store.path.exists() else []
    seconds = [_seconds(case, records) for case in cases]
    known = [duration for duration in seconds if duration is not None]
    return sum(known) if len(known) == len(seconds) else None


def _alike(order: Order, cases: Iterable[Case], store: Store) -> list[Record]:
    """Records that were measured with the same effort, the newest first."""
    chosen = Filter(
        model=tuple({case.model for case in cases}),
        platform=tuple({case.platform for case in cases}),
        status=(Status.OK,),
    )
    records = store.records(chosen, newest=NEWEST)
    wanted = {record.run_id for record in records}
    same = {
        run.run_id
        for run in store.runs()
        if run.run_id in wanted and run.effort == order.effort and run.settings == order.settings
    }
    return [record for record in reversed(records) if record.run_id in same and record.duration_s > 0]


def _seconds(case: Case, records: list[Record]) -> float | None:
    tests: tuple[Callable[[Case], bool], ...] = (
        lambda other: other == case,
        lambda other: (other.workload, other.model, other.platform) == (case.workload, case.model, case.platform),
    )
    for is_like, most in zip(tests, (1, _FEW), strict=True):
        if found := [record.duration_s for record in records if is_like(record.case)][:most]:
            return fmean(found)
    return None
