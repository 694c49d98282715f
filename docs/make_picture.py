"""Draws the README's picture from the latest run of a store: python docs/make_picture.py dyno.duckdb docs/bench.svg"""

from __future__ import annotations

import io
import re
import sys
from pathlib import Path

from rich.console import Console

from modeldyno.analysis.best import best_per_model
from modeldyno.cli import _tables
from modeldyno.store.query import Filter
from modeldyno.store.store import Store


def main(store: str, target: str) -> None:
    opened = Store(Path(store))
    records = opened.records(Filter(run_id=(opened.find_run("latest").run_id,)))
    console = Console(record=True, width=172, file=io.StringIO(), markup=False, highlight=False)
    console.print(_tables.record_table(record for record in records if record.status == "ok"))
    best = (best_per_model(records, metric) for metric in ("latency_ms", "throughput_per_s"))
    console.print(_tables.best_table(*best))
    picture = console.export_svg(title="make bench", unique_id="bench")
    # The fonts would be fetched from elsewhere; any monospaced one will do.
    Path(target).write_text(re.sub(r"@font-face \{.*?\}\s*", "", picture, flags=re.DOTALL), encoding="utf-8")


if __name__ == "__main__":
    main(*sys.argv[1:])
