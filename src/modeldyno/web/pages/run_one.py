"""One run: what it was to do, how each case ended, where it happened, and the command that repeats it."""

from __future__ import annotations

from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.web.pages._lists import BAD, EXPORTED, MOST, Later
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet


def make(ask: Ask) -> Sheet:
    run_id = ask.places["run_id"]
    found = ask.snapshot.runs(1, run_id=run_id)
    if not found:
        raise NotThere(f"There is no run {run_id[:64]}; see /dashboard/runs for all.")
    good, bad = Filter(run_id=(run_id,), status=(Status.OK,)), Filter(run_id=(run_id,), status=BAD)
    before = ask.snapshot.runs(1, before=run_id)
    return Sheet(
        f"Run {run_id[-8:]}",
        {
            "run": found[0],
            "rows": ask.snapshot.results(good, Order(), MOST),
            "rows_of": ask.snapshot.count(good),
            "problems": ask.snapshot.results(bad, Order(), MOST),
            "problems_of": ask.snapshot.count(bad),
            "provenances": [each.value for each in Provenance],
            "before": before[0]["run_id"] if before else None,
        },
        Later(lambda: ask.snapshot.results(Filter(run_id=(run_id,)), Order("started_at", False), EXPORTED)),
    )


MEMBER = Page("/dashboard/runs/{run_id}", make)
