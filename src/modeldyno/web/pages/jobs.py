"""Jobs: what waits, what runs, what is over; and alerts."""

from __future__ import annotations

from modeldyno.web.sheet import Ask, Page, Sheet

ROWS = 50


def make(ask: Ask) -> Sheet:
    jobs = ask.house.queue.jobs(limit=ROWS + 1, before=ask.one("before") or None)
    rows = [job.model_dump(mode="json", exclude={"order"}) for job in jobs[:ROWS]]
    return Sheet(
        "Jobs",
        {
            "rows": jobs[:ROWS],
            "next": jobs[ROWS - 1].job_id if len(jobs) > ROWS else None,
            "alerts": ask.house.queue.alerts(limit=30),
        },
        rows,
    )


MEMBER = Page("/dashboard/jobs", make, nav="Jobs", place=9, live=True)
