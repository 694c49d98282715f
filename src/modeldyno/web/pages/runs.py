"""Runs, newest first."""

from __future__ import annotations

from modeldyno.web.sheet import Ask, Page, Sheet

ROWS = 50


def make(ask: Ask) -> Sheet:
    rows = ask.snapshot.runs(ROWS + 1, ask.one("before") or None)
    return Sheet("Runs", {"rows": rows[:ROWS], "next": rows[ROWS - 1]["run_id"] if len(rows) > ROWS else None}, rows)


MEMBER = Page("/dashboard/runs", make, nav="Runs", place=5)
