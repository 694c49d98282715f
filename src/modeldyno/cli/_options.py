"""Options that every command shares."""

from __future__ import annotations

from typing import Annotated

import typer

StoreOption = Annotated[
    str | None,
    typer.Option("--store", metavar="PATH", help="The DuckDB file (default: dyno.duckdb, or $DYNO_STORE)."),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else there.")]


def comma_list(text: str | None) -> list[str]:
    """`a,b` as two names; nothing as none."""
    return [part.strip() for part in (text or "").split(",") if part.strip()]
