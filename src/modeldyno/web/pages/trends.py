"""Trends: series over time, those that got worse first."""

from __future__ import annotations

from typing import Any

from modeldyno.web.sheet import Ask, Page, Sheet

ROWS = 100


def make(ask: Ask) -> Sheet:
    rows = ask.snapshot.series(ask.chosen, ROWS + 1, ask.one("after") or None)
    thought = ask.house.thinker.now
    seen = {(one.series_id, one.record_id): one for one in ask.house.acknowledgements.all()}
    models = {name.lower() for name in ask.many("model")}
    regressions: list[dict[str, Any]] = [
        {"regression": one, "seen": seen.get((one.series_id, one.record_id))}
        for one in thought.regressions
        if not models or one.model.lower() in models
    ]
    return Sheet(
        "Trends",
        {
            "rows": rows[:ROWS],
            "next": rows[ROWS - 1]["series_id"] if len(rows) > ROWS else None,
            "regressions": regressions,
            "thought": thought.version is not None,
            "looked_at": thought.series,
            "models": [row["model"] for row in ask.snapshot.models()],
        },
        rows,
    )


MEMBER = Page("/dashboard/trends", make, nav="Trends", place=6, moody=True)
