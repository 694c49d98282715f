"""Reports: all kinds, in every format."""

from __future__ import annotations

from modeldyno.reports.formats import FORMATS
from modeldyno.reports.template import kinds, read_template
from modeldyno.web.sheet import Ask, Page, Sheet


def make(ask: Ask) -> Sheet:
    found = [read_template(path) for path in kinds(None).values()]
    rows = [{"kind": one.name, "about": one.about, "subject": one.subject} for one in found]
    models = [row["model"] for row in ask.snapshot.models()]
    return Sheet("Reports", {"rows": rows, "formats": FORMATS.names(), "models": models}, rows)


MEMBER = Page("/dashboard/reports", make, nav="Reports", place=15)
