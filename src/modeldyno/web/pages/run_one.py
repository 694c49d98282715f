"""One run: what it was to do, how each case ended, where it happened, and the command that repeats it."""

from __future__ import annotations

from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

MOST = 100


def make(ask: Ask) -> Sheet:
    run_id = ask.places["run_id"]
    found = ask.snapshot.runs(1, run_id=run_id)
    if not found:
        raise NotThere(f"There is no run {run_id[:64]}; see /dashboard/runs for all.")
    rows = ask.snapshot.results(Filter(run_id=(run_id,)), Order("started_at", False), MOST)
    before = ask.snapshot.runs(1, before=run_id)
    return Sheet(
        f"Run {run_id[-8:]}",
        {
            "run": found[0],
            "rows": [row for row in rows if row["status"] == "ok"],
            "problems": [row for row in rows if row["status"] != "ok"],
            "before": before[0]["run_id"] if before else None,
        },
        rows,
    )


MEMBER = Page("/dashboard/runs/{run_id}", make)
