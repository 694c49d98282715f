"""`dyno predict train`: learn from all results in the store."""

from __future__ import annotations

from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store


def train(
    metric: Annotated[str, typer.Option(help="latency_ms, memory_peak_mb or energy_j.")] = "latency_ms",
    if_stale: Annotated[bool, typer.Option("--if-stale", help="Only where results came since the last time.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Learn from all results in the store; how well it does on what it has not seen is kept with it."""
    from modeldyno.cli.predict._quality import quality_table
    from modeldyno.core.metrics import metric as known_metric
    from modeldyno.predict.drift import drift
    from modeldyno.predict.stored import standing
    from modeldyno.predict.stored import train as learn

    opened = open_store(store)
    known_metric(metric)
    before = standing(opened, metric)
    if if_stale and not before.stale:
        _say_nothing_new(metric, before.cells, json)
        return
    drifted = drift(opened, metric)
    if drifted:
        print_note(drifted.sentence)
    made = learn(opened, metric)
    if json:
        told = drifted.document() if drifted else None
        print_json({"metric": metric, "trained": True, "cells": made.size, "quality": made.quality(), "drift": told})
        return
    print_table(quality_table(made.quality()))
    print_line(f"Learned from {made.size} results.")


def _say_nothing_new(metric: str, cells: int, json: bool) -> None:
    if json:
        print_json({"metric": metric, "trained": False, "cells": cells})
    else:
        print_line("Nothing new has come since it was trained.")
