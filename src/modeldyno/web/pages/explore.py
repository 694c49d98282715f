"""Explore: all results, chosen, sorted, with the columns one wants, as a table and a chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from modeldyno.core.metrics import METRICS, format_value
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import FACETS, ORDERS, VALUES, Order
from modeldyno.web import charts
from modeldyno.web.choosing import chosen
from modeldyno.web.sheet import Ask, Page, Sheet
from modeldyno.web.shown import sizes

ROWS, EXPORTED = 100, 10_000
CHARTED = 20
OFFERED = {"platform": "on"} | {name: name for name in FACETS if name not in ("platform", "verdict")}
"""Columns that can be chosen by, and the word of the address for each."""
PLAIN = ("model", "platform", "device", "runtime", "precision", "batch", "workload", "status", "started_at")
USUAL = (*PLAIN[:6], "status", "latency_ms", "throughput_per_s", "memory_peak_mb", "started_at")
MANY = 12
"""Values from which a list gets a field to look for one."""


@dataclass(frozen=True)
class Column:
    name: str
    text: str
    about: str
    numeric: bool


def _column(name: str) -> Column:
    if name in VALUES:
        return Column(name, name.removesuffix("_ms").removesuffix("_mb").replace("_", " "), METRICS[name].meaning, True)
    return Column(name, {"started_at": "when", "platform": "on"}.get(name, name), f"Sort by {name}", name == "batch")


COLUMNS = {name: _column(name) for name in (*PLAIN, *VALUES)}


def make(ask: Ask) -> Sheet:
    order = Order.read(ask.one("sort", "-started_at"))
    wanted, newest = ask.chosen, ask.one("newest") == "1"
    shown = [name for name in ask.many("column") if name in COLUMNS] or list(USUAL)
    rows = ask.snapshot.results(wanted, order, ROWS + 1, ask.one("after") or None, newest)
    page = rows[:ROWS]
    facets = ask.snapshot.facets(wanted) | {name: _others(ask, wanted, name) for name in _picked(ask)}
    metric = ask.choice("metric", VALUES, order.column if order.column in VALUES else "latency_ms")
    return Sheet(
        "Explore",
        {
            "count": ask.snapshot.count(wanted, newest),
            "rows": page,
            "columns": [COLUMNS[name] for name in shown],
            "all_columns": list(COLUMNS.values()),
            "facets": [
                {"name": word, "title": name, "values": facets[name], "many": len(facets[name]) > MANY}
                for name, word in OFFERED.items()
            ],
            "sort": ask.one("sort", "-started_at"),
            "newest": newest,
            "next": page[-1]["record_id"] if len(rows) > ROWS else None,
            "metric": metric,
            "metrics": VALUES,
            "_chart": _chart(ask, metric, newest),
        },
        _export(ask, wanted, order, newest) if ask.one("export") else page,
    )


def _picked(ask: Ask) -> list[str]:
    return [name for name, word in OFFERED.items() if ask.many(word)]


def _others(ask: Ask, wanted: Filter, name: str) -> list[tuple[Any, int]]:
    """What else could be picked beside, as if nothing of this column were."""
    without: dict[str, Any] = {name: ()}
    return ask.snapshot.facet(name, replace(wanted, **without))


def _export(ask: Ask, wanted: Filter, order: Order, newest: bool) -> list[dict[str, Any]]:
    return ask.snapshot.results(wanted, order, EXPORTED, None, newest)


def _chart(ask: Ask, metric: str, newest: bool) -> Any:
    """The best of what is chosen, by the metric; of models at inference, unless other work is asked for."""
    best_first = Order(metric, METRICS[metric].direction.value == "more")
    shown = chosen({"status": ["ok"], "workload": ["inference"], **ask.query})
    rows = ask.snapshot.results(shown, best_first, CHARTED, None, newest)
    return charts.bars(bars(rows, metric), f"The {len(rows)} best results by {metric}")


def bars(rows: Sequence[Mapping[str, Any]], metric: str) -> list[charts.Bar]:
    return [
        charts.Bar(
            _label(row),
            row[metric],
            format_value(metric, row[metric]),
            row.get(f"{metric}_low"),
            row.get(f"{metric}_high"),
            row["platform"],
            f"/dashboard/records/{row['record_id']}",
            "" if row["provenance"] == "measured" else row["provenance"],
        )
        for row in rows
        if row[metric] is not None and row[metric] >= 0
    ]


def _label(row: Mapping[str, Any]) -> str:
    words = [row["model"], row["platform"], row["runtime"], row["precision"], f"b{row['batch']}", sizes(row)]
    return " ".join([*words, *([row["workload"]] if row["workload"] != "inference" else [])])


assert set(COLUMNS) <= {*ORDERS, "started_at"}
MEMBER = Page("/dashboard/explore", make, nav="Explore", place=1)
