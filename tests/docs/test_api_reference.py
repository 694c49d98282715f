"""docs/api.md is what the server says of itself."""

from __future__ import annotations

from pathlib import Path

from modeldyno.web.reference import PAGE, page

DOCS = Path(__file__).parents[2] / "docs"


def test_the_reference_is_current() -> None:
    assert (DOCS / PAGE).read_text() == page(), "run: python -m modeldyno.web.reference docs"
