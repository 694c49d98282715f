"""One job: how far it is, its results as they come, its log; cancel, resume or repeat it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from modeldyno.core.metrics import format_value
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.web.jobs.types import EventKind
from modeldyno.web.sheet import Ask, Page, Sheet

LOG = 20_000
"""Letters of the log that the page shows, the last."""


def make(ask: Ask) -> Sheet:
    job = ask.house.queue.get(ask.places["job_id"])
    events = ask.house.queue.events(job.job_id)
    records = [event.data for event in events if event.kind is EventKind.RECORD]
    return Sheet(
        job.title,
        {
            "job": job,
            "last_event": events[-1].number if events else 0,
            "records": [{**record, "before": _before(ask, record)} for record in records],
            "notes": [event for event in events if event.kind is EventKind.NOTE][-1:],
            "warnings": [event.data.get("text", "") for event in events if event.kind is EventKind.WARNING],
            "log": ask.house.queue.log(job.job_id).read()[-LOG:],
        },
        records,
    )


def _before(ask: Ask, record: Mapping[str, Any]) -> dict[str, Any] | None:
    """The newest earlier result of the same series, for a comparison at once."""
    rows = ask.snapshot.results(Filter(record_id=(str(record.get("record_id")),)), Order(), 1)
    if not rows:
        return None
    same = ask.snapshot.results(Filter(series_id=(rows[0]["series_id"],)), Order(), 5)
    earlier = [row for row in same if row["started_at"] < rows[0]["started_at"] and row["latency_ms"]]
    if not earlier or not rows[0]["latency_ms"]:
        return {"series_id": rows[0]["series_id"], "text": None}
    ratio = rows[0]["latency_ms"] / earlier[0]["latency_ms"]
    text = f"{ratio:.2f} times {format_value('latency_ms', earlier[0]['latency_ms'])} before"
    return {"series_id": rows[0]["series_id"], "text": text}


MEMBER = Page("/dashboard/jobs/{job_id}", make, live=True)
