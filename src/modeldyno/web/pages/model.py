"""One model: where it ran, how fast, and what to use."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from modeldyno.core.metrics import format_value
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.store.words import real
from modeldyno.web import charts
from modeldyno.web.sheet import Ask, NotThere, Page, Sheet

MOST = 120
CHARTED = 24


def make(ask: Ask) -> Sheet:
    name = ask.places["name"]
    chosen = real(Filter(model=(name,)))
    rows = ask.snapshot.results(chosen, Order("latency_ms", False), MOST, None, newest=True)
    if not rows:
        raise NotThere(f"No result is of a model {name[:100]}; run: dyno run {name[:100]} --quick")
    known = next(row for row in ask.snapshot.models() if row["model"].lower() == name.lower())
    good = [row for row in rows if row["status"] == "ok" and row["latency_ms"]]
    return Sheet(
        known["model"],
        {
            "model": known,
            "rows": rows,
            "workloads": sorted({row["workload"] for row in rows}),
            "problems": [row for row in rows if row["status"] != "ok"],
            "_chart": charts.bars(_bars(good), f"Time per item of {name}"),
        },
        rows,
    )


def _bars(rows: Sequence[Mapping[str, Any]]) -> list[charts.Bar]:
    """Time of an item, so that batches can be held against each other."""
    made, several = [], len({row["device"] for row in rows}) > 1
    for row in rows:
        if row["workload"] == "inference":
            share = 1 / row["batch"]
            made.append(
                charts.Bar(
                    _label(row, several),
                    row["latency_ms"] * share,
                    format_value("latency_ms", row["latency_ms"] * share),
                    row["latency_ms_low"] and row["latency_ms_low"] * share,
                    row["latency_ms_high"] and row["latency_ms_high"] * share,
                    row["platform"],
                    f"/dashboard/records/{row['record_id']}",
                    "" if row["provenance"] == "measured" else row["provenance"],
                )
            )
    return sorted(made, key=lambda bar: bar.value)[:CHARTED]


def _label(row: Mapping[str, Any], several: bool) -> str:
    words = [row["platform"], row["runtime"], row["precision"], f"b{row['batch']}"]
    return " ".join([*words, *([row["device"] or "-"] if several else [])])


MEMBER = Page("/dashboard/models/{name:path}", make)
