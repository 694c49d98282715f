"""Compare: the same work side by side on two to eight devices, runtimes, models or runs, with the verdict on each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from modeldyno.analysis.comparable import By
from modeldyno.analysis.compare import (
    Comparison,
    compare,
    default_metric,
    match_runs,
    pair_up,
    several_devices,
    side,
    side_text,
    verdict_text,
    work_text,
)
from modeldyno.core.errors import InputError
from modeldyno.core.metrics import METRICS, format_value
from modeldyno.core.types import Host, Record, Status
from modeldyno.store.find import hosts_of_runs
from modeldyno.store.snapshot import Snapshot
from modeldyno.web import charts
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

MOST_SIDES = 8
MOST_RECORDS = 400
CHARTED = 24


def make(ask: Ask) -> Sheet:
    by = By(ask.choice("by", [one.value for one in By], By.PLATFORM.value))
    metric = ask.choice("metric", tuple(METRICS), default_metric(by))
    items = ask.many("item")
    if len(items) > MOST_SIDES:
        raise InputError(f"At most {MOST_SIDES} can be held against each other; take {len(items) - MOST_SIDES} away.")
    baseline = ask.one("baseline") or (items[0] if items else None)
    found = _found(ask, by, metric, items, baseline) if _is_asked(ask) else ()
    named = several_devices((one.old, one.new) for one in found)
    rows = [_row(one, by, named) for one in found]
    return Sheet(
        "Compare",
        {
            "by": by.value,
            "kinds": [one.value for one in By],
            "metric": metric,
            "metrics": ("latency_ms", "throughput_per_s", "memory_peak_mb", "latency_p95_ms", "energy_j"),
            "items": items,
            "baseline": baseline,
            "offers": _offers(ask.snapshot, by),
            "models": [row["model"] for row in ask.snapshot.models()],
            "asked": _is_asked(ask),
            "rows": rows,
            "better": "more" if METRICS[metric].direction.value == "more" else "less",
            "_chart": _chart(found, by, metric, named),
        },
        rows,
    )


def _is_asked(ask: Ask) -> bool:
    return bool(ask.many("item") or ask.many("model"))


def _offers(snapshot: Snapshot, by: By) -> list[tuple[str, str]]:
    """What can be picked, by value and text."""
    if by is By.RUN:
        return [(row["run_id"], _run_text(row)) for row in snapshot.runs(60)]
    if by is By.MODEL:
        return [(row["model"], row["model"]) for row in snapshot.models()]
    return [(str(value), str(value)) for value, _ in snapshot.facet(by.value)]


def _run_text(row: dict[str, Any]) -> str:
    what = row["name"] or ", ".join(row["models"][:2])
    return f"{row['started_at']:%Y-%m-%d %H:%M} {what} ({row['run_id'][-6:]})"


def _found(ask: Ask, by: By, metric: str, items: Sequence[str], baseline: str | None) -> tuple[Comparison, ...]:
    store, chosen = ask.snapshot.store, replace(ask.chosen, status=(Status.OK,))
    hosts: dict[str, Host] = hosts_of_runs(store)
    if by is By.RUN and items:
        return _runs(ask, metric, items, hosts)
    records: list[Record] = store.newest_records(chosen, newest=MOST_RECORDS)
    if items:
        wanted = {item.lower() for item in items}
        records = [record for record in records if side(record, by).lower() in wanted]
    known = {side(record, by) for record in records}
    pairing = pair_up(records, by, metric, baseline if baseline in known else None)
    return compare(pairing.pairs, by, [metric], {}, hosts)


def _runs(ask: Ask, metric: str, items: Sequence[str], hosts: dict[str, Host]) -> tuple[Comparison, ...]:
    """The first is the baseline of all others."""
    missing = next((item for item in items if not ask.snapshot.runs(1, run_id=item)), None)
    if missing or len(items) < 2:
        raise NotThere(
            f"There is no run {missing[:64]}; see /dashboard/runs for all." if missing else "Pick two runs at least."
        )
    chosen = replace(ask.chosen, status=())
    first, *others = ([*ask.snapshot.store.records(replace(chosen, run_id=(item,)))] for item in items)
    pairs = [pair for other in others for pair in match_runs(first, other).pairs]
    return compare(pairs, By.RUN, [metric], {}, hosts)


def _row(one: Comparison, by: By, named: frozenset[str]) -> dict[str, Any]:
    interval = one.ratio.interval
    return {
        "case": work_text(one.new.case, by),
        "baseline": side_text(one.old, by, named),
        "baseline_value": _value(one.old, one.metric),
        "baseline_record": one.old.record_id,
        "compared": side_text(one.new, by, named),
        "compared_value": _value(one.new, one.metric),
        "compared_record": one.new.record_id,
        "times_better": one.gain,
        "ratio": one.ratio.value,
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "verdict": verdict_text(one),
        "word": one.verdict,
        "refused": list(one.refused),
        "labels": list(one.labels),
    }


def _value(record: Record, metric: str) -> str:
    found = record.metrics.get(metric)
    return "-" if found is None or found.value is None else format_value(metric, found.value, found.low, found.high)


def _chart(found: Sequence[Comparison], by: By, metric: str, named: frozenset[str]) -> Any:
    records = {record.record_id: record for one in found for record in (one.old, one.new)}
    bars = [
        charts.Bar(
            f"{side_text(record, by, named)} · {work_text(record.case, by)}",
            value.value,
            format_value(metric, value.value),
            value.low,
            value.high,
            record.case.platform,
            f"/dashboard/records/{record.record_id}",
        )
        for record in list(records.values())[:CHARTED]
        if (value := record.metrics.get(metric)) and value.value is not None
    ]
    return charts.bars(bars, f"{metric} of what is compared")


MEMBER = Page("/dashboard/compare", make, nav="Compare", place=2)
