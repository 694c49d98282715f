"""One job: how far it is, its results as they come, its log; cancel, resume or repeat it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from modeldyno.analysis.latest import FEWEST, Latest, against_history
from modeldyno.analysis.verdict import Change, margin_of, word
from modeldyno.core.metrics import METRICS, format_value
from modeldyno.store.snapshot import Snapshot
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.jobs.types import Event, EventKind
from modeldyno.web.sheet import Ask, Page, Sheet

LOG = 20_000
"""Letters of the log that the page shows, the last."""
AT_ONCE = 1000
"""Events that are read in one go."""
EARLIER = 60
"""Values that a new one is held against, the last."""
_METRIC = "latency_ms"


@dataclass
class _Told:
    """What the page keeps of the events."""

    last: int = 0
    note: Event | None = None
    records: list[dict[str, Any]] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)

    def take(self, event: Event) -> None:
        self.last = event.number
        if event.kind is EventKind.NOTE:
            self.note = event
        elif event.kind is EventKind.RECORD:
            self.records.append(event.data)
        elif event.kind is EventKind.WARNING:
            self.warnings.append(event.data.get("text", ""))


def make(ask: Ask) -> Sheet:
    queue, job_id = ask.house.queue, ask.places["job_id"]
    told = _told(queue, job_id)
    job = queue.get(job_id)  # after its events: an end that comes between the two is told to the page as it happens
    before = _before(ask.snapshot, [str(record.get("record_id")) for record in told.records])
    return Sheet(
        job.title,
        {
            "job": job,
            "last_event": told.last,
            "records": [{**record, "before": before.get(str(record.get("record_id")))} for record in told.records],
            "notes": [told.note] if told.note else [],
            "warnings": told.warnings,
            "log": queue.log(job_id).read()[-LOG:],
        },
        told.records,
    )


def _told(queue: Queue, job_id: str) -> _Told:
    told = _Told()
    while some := queue.events(job_id, told.last, AT_ONCE):
        for event in some:
            told.take(event)
    return told


def _before(snapshot: Snapshot, record_ids: Sequence[str]) -> dict[str, dict[str, str]]:
    """Of each record that the snapshot has: its series, and what real results before it make of it."""
    rows = snapshot.places(record_ids)
    if not rows:
        return {}
    series = {row["series_id"] for row in rows if row["counts"]}
    known = snapshot.latencies(sorted(series), max(row["seq"] for row in rows), EARLIER)
    by_series: dict[str, list[dict[str, Any]]] = {}
    for one in known:
        by_series.setdefault(one["series_id"], []).append(one)
    made = {}
    for row in rows:
        text = "its history"
        if row["counts"]:
            earlier = [one["latency_ms"] for one in by_series.get(row["series_id"], ()) if one["seq"] < row["seq"]]
            text = _compared(earlier, row["latency_ms"])
        made[row["record_id"]] = {"series_id": row["series_id"], "text": text}
    return made


def _compared(earlier: Sequence[float], new: float) -> str:
    if not earlier:
        return "first of its series"
    if len(earlier) >= FEWEST:
        latest = against_history(earlier, new, margin_of(_METRIC), METRICS[_METRIC].direction)
        if latest.decision.ratio:
            return _verdict(latest)
    times = f"{new / earlier[-1]:.2f} times {format_value(_METRIC, earlier[-1])} before"
    return f"{times}, too few results for a verdict"


def _verdict(latest: Latest) -> str:
    decision, ratio = latest.decision, latest.decision.ratio
    assert ratio
    told = {
        Change.SAME: f"the same within {decision.margin:.0%}",
        Change.AMBIGUOUS: "too uncertain for a verdict",
    }.get(decision.change, word(decision.change, _METRIC))
    against = "the level before its latest change" if latest.is_level else "its history"
    return f"{told}: {ratio.value:.3g} times [{ratio.low:.3g}, {ratio.high:.3g}] {against}"


MEMBER = Page("/dashboard/jobs/{job_id}", make, live=True)
