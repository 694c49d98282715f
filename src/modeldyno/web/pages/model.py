"""One model: where it ran, how fast, and what to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from modeldyno.core.metrics import format_value
from modeldyno.core.types import Status
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.store.words import real
from modeldyno.web import charts
from modeldyno.web.pages._lists import BAD, EXPORTED, MOST, PROBLEMS, Later
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

CHARTED = 24


def make(ask: Ask) -> Sheet:
    name = ask.places["name"]
    chosen = real(Filter(model=(name,)))
    known = next((row for row in ask.snapshot.models() if row["model"].lower() == name.lower()), None)
    if known is None:
        raise NotThere(f"No result is of a model {name[:100]}; run: dyno run {name[:100]} --quick")
    good, bad = replace(chosen, status=(Status.OK,)), replace(chosen, status=BAD)
    return Sheet(
        known["model"],
        {
            "model": known,
            "rows": ask.snapshot.results(good, Order(), MOST, newest=True),
            "rows_of": ask.snapshot.count(good, newest=True),
            "workloads": [workload for workload, _ in ask.snapshot.facet("workload", chosen)],
            "problems": ask.snapshot.results(bad, Order(), PROBLEMS, newest=True),
            "problems_of": ask.snapshot.count(bad, newest=True),
            "_chart": charts.bars(_bars(ask.snapshot.fastest(chosen, CHARTED)), f"Time per item of {name}"),
        },
        Later(lambda: ask.snapshot.results(chosen, Order(), EXPORTED, newest=True)),
    )


def _bars(rows: Sequence[Mapping[str, Any]]) -> list[charts.Bar]:
    """Time of an item, so that batches can be held against each other."""
    several = len({row["device"] for row in rows}) > 1
    return [_bar(row, 1 / row["batch"], several) for row in rows]


def _bar(row: Mapping[str, Any], share: float, several: bool) -> charts.Bar:
    return charts.Bar(
        _label(row, several),
        row["latency_ms"] * share,
        format_value("latency_ms", row["latency_ms"] * share),
        row["latency_ms_low"] and row["latency_ms_low"] * share,
        row["latency_ms_high"] and row["latency_ms_high"] * share,
        row["platform"],
        f"/dashboard/records/{row['record_id']}",
        "" if row["provenance"] == "measured" else row["provenance"],
    )


def _label(row: Mapping[str, Any], several: bool) -> str:
    words = [row["platform"], row["runtime"], row["precision"], f"b{row['batch']}"]
    return " ".join([*words, *([row["device"] or "-"] if several else [])])


MEMBER = Page("/dashboard/models/{name:path}", make)
