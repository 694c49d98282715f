"""Models: those with results, and the catalogue."""

from __future__ import annotations

from modeldyno.web.sheet import Ask, Page, Sheet


def make(ask: Ask) -> Sheet:
    family = ask.one("family")
    rows = [row for row in ask.snapshot.models() if not family or row["family"] == family]
    families = sorted({row["family"] for row in ask.snapshot.models() if row["family"]})
    return Sheet("Models", {"rows": rows, "families": families}, rows)


MEMBER = Page("/dashboard/models", make, nav="Models", place=3)
