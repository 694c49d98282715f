"""Overview: what was measured where, what got worse, what ran last, and what to measure next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from modeldyno.core.metrics import format_value, significant
from modeldyno.platforms import PLATFORMS
from modeldyno.web import charts
from modeldyno.web.sheet import Ask, Page, Sheet
from modeldyno.web.shown import address, age

MODES = ("speed", "compatibility", "freshness")
LEGENDS = {
    "speed": "least time per item of inference, over all batch sizes and shapes, of the newest results, in ms; "
    "darker is slower, for each model on its own",
    "compatibility": "how the newest results ended",
    "freshness": "how long ago it was measured last; darker is older",
}
MODELS = 40
"""On one page."""
RUNS, REGRESSIONS = 8, 6
SLOW = 8.0
"""Times the best: what is slower than that is as dark as can be, where nothing is slower still."""
_OLDEST_S = 365 * 86400.0


def make(ask: Ask) -> Sheet:
    show = ask.choice("show", MODES, MODES[0])
    found = ask.snapshot.matrix(ask.chosen)
    everything = ask.snapshot.models()
    models = sorted({row["model"] for row in found})
    page = ask.number("page", 1, 100_000)
    some = models[(page - 1) * MODELS : page * MODELS]
    cells = {(row["model"], row["platform"]): row for row in found}
    names = [*PLATFORMS.names(), *sorted({row["platform"] for row in found} - set(PLATFORMS.names()))]
    thought = ask.house.thinker.now
    explained = {(one.series_id, one.record_id) for one in ask.house.acknowledgements.all()}
    regressions = [one for one in thought.regressions if (one.series_id, one.record_id) not in explained]
    return Sheet(
        "Overview",
        {
            "total": sum(row["results"] for row in everything),
            "models": models,
            "platforms": names,
            "seen_platforms": len({row["platform"] for row in found}),
            "families": sorted({row["family"] for row in everything if row["family"]}),
            "modes": MODES,
            "show": show,
            "legend": LEGENDS[show],
            "page": page,
            "pages": -(-len(models) // MODELS),
            "first": (page - 1) * MODELS + 1,
            "last": (page - 1) * MODELS + len(some),
            "matrix": [{"model": model, "cells": _cells(model, names, cells, show)} for model in some],
            "runs": ask.snapshot.runs(RUNS),
            "thought": thought.version is not None,
            "regressions": regressions[:REGRESSIONS],
            "more_regressions": max(0, len(regressions) - REGRESSIONS),
            "explained": len(thought.regressions) - len(regressions),
            "series": thought.series,
            "next": list(thought.next),
            "why_no_next": (thought.why_no_next or "").capitalize(),
            "alerts": ask.house.open_alerts(),
        },
        found,
    )


def _cells(
    model: str, names: Sequence[str], cells: Mapping[tuple[str, str], Mapping[str, Any]], show: str
) -> list[dict[str, Any]]:
    """One for each platform; colours are for this model alone, for models differ by orders of magnitude."""
    row = [cells.get((model, name)) for name in names]
    speeds = [cell["best_ms"] for cell in row if cell and cell["best_ms"]]
    reach = (min(speeds), max(*speeds, SLOW * min(speeds))) if speeds else (1.0, SLOW)
    return [
        {"platform": name, "results": 0} if cell is None else _cell(cell, show, reach)
        for name, cell in zip(names, row, strict=True)
    ]


def _cell(cell: Mapping[str, Any], show: str, reach: tuple[float, float]) -> dict[str, Any]:
    text, kind = _SHOWN[show](cell, reach)
    counts = ", ".join(f"{cell[name]} {name}" for name in ("ok", "invalid", "failed", "skipped") if cell[name])
    best = f"; best {format_value('latency_ms', cell['best_ms'])} per item" if cell["best_ms"] else ""
    return {
        "platform": cell["platform"],
        "results": cell["results"],
        "text": text,
        "class": kind,
        "about": f"{cell['model']} on {cell['platform']}: {counts}{best}; last {age(cell['last'])}",
        "link": address("/dashboard/explore", model=cell["model"], on=cell["platform"], newest="1"),
    }


def _speed(cell: Mapping[str, Any], reach: tuple[float, float]) -> tuple[str, str]:
    if cell["best_ms"] is None:
        return _worst(cell), _worst(cell)
    return significant(cell["best_ms"], 3), charts.heat(cell["best_ms"], reach)


def _worst(cell: Mapping[str, Any]) -> str:
    return next((name for name in ("ok", "invalid", "failed", "skipped") if cell[name]), "skipped")


def _compatibility(cell: Mapping[str, Any], _: tuple[float, float]) -> tuple[str, str]:
    return _worst(cell), _worst(cell)


def _freshness(cell: Mapping[str, Any], _: tuple[float, float]) -> tuple[str, str]:
    seconds = (datetime.now(UTC).replace(tzinfo=None) - cell["last"]).total_seconds()
    return age(cell["last"]).removesuffix(" ago"), charts.heat(max(seconds, 3600.0), (3600.0, _OLDEST_S))


_SHOWN = {"speed": _speed, "compatibility": _compatibility, "freshness": _freshness}
MEMBER = Page("/dashboard", make, nav="Overview", place=0, moody=True)
