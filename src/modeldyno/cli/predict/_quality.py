"""How well predictions do, as a table."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.table import Table


def quality_table(quality: Mapping[str, Mapping[str, float]]) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table("Asked for what it had not seen", ["distance", "cells", "within 15 %", "median error"])
    for distance, found in quality.items():
        shares = (f"{found['within_15_percent']:.0%}", f"{found['median_error']:.1%}")
        table.add_row(distance, str(int(found["cells"])), *shares)
    return table
