"""Pages about one kind of work: which results belong to it, and which metrics say most."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from modeldyno.core.metrics import METRICS
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Order
from modeldyno.store.words import real
from modeldyno.web import charts
from modeldyno.web.pages.explore import bars
from modeldyno.web.sheet import Ask, Sheet

MOST = 120
CHARTED = 20


@dataclass(frozen=True)
class Work:
    """What a page is about."""

    title: str
    about: str
    chosen: Filter
    metrics: tuple[str, ...]
    command: str
    """That would bring the first results."""


def page_of(work: Work) -> Callable[[Ask], Sheet]:
    def make(ask: Ask) -> Sheet:
        wanted = real(work.chosen)
        wanted = replace(wanted, model=ask.chosen.model)
        rows = ask.snapshot.results(wanted, Order(), MOST, None, newest=True)
        metric = ask.choice("metric", work.metrics, work.metrics[0])
        more = METRICS[metric].direction.value == "more"
        good = [row for row in rows if row["status"] == "ok" and row[metric] is not None]
        best = sorted(good, key=lambda row: row[metric], reverse=more)[:CHARTED]
        data = {
            "work": {"title": work.title, "about": work.about, "command": work.command},
            "metrics": work.metrics,
            "metric": metric,
            "rows": rows,
            "_chart": charts.bars(bars(best, metric), f"{work.title} by {metric}"),
        }
        return Sheet(work.title, data, rows)

    return make
