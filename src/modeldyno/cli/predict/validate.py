"""`dyno predict validate`: hide results, ask for them, and tell how far off the answers were."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.table import Table

    from modeldyno.predict.validation import Group, Score, Validation
    from modeldyno.store.store import Store

WORST = 5
_HEADINGS = ["results", "median error", "mean error", "within 15 %", "in 90 % interval", "half-width", "abstained"]


def validate(
    metric: Annotated[str, typer.Option(help="latency_ms, memory_peak_mb or energy_j.")] = "latency_ms",
    split: Annotated[
        str, typer.Option(help="What to hide: pair, one (all but one device of a model), model, family, device.")
    ] = "pair,one,model,family,device",
    seed: Annotated[int, typer.Option(min=0, help="Which results are hidden.")] = 0,
    output: Annotated[Path | None, typer.Option(help="A report with charts: .html, .md, .pdf or .json.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Hide some results, learn from the rest, and tell how far off predictions of the hidden ones are."""
    from modeldyno.core.metrics import metric as known_metric
    from modeldyno.core.spoken import comma_list
    from modeldyno.predict.stored import cells_of
    from modeldyno.predict.validation import validate as examine

    known_metric(metric)
    places = _places(output) if output else {}
    opened = open_store(store)
    found = examine(cells_of(opened, metric), metric, comma_list(split), seed, _watch)
    if places:
        _report(found, opened, places, _command(found, comma_list(split), output, store))
    if json:
        print_json(found.document())
        return
    print_table(_split_table(found.scores), *_group_tables(found))
    for name, why in found.left_out.items():
        print_note(f"The split {name} was left out: {why}.")
    for score in found.scores:
        if silent := score.cells - score.answered:
            print_note(f"Of {score.cells} results hidden by {score.name}, {silent} got no number.")
    for path in places.values():
        print_line(f"Wrote {path}")


def _watch(number: int, total: int, what: str) -> None:
    print_note(f"{number} of {total}: {what}")


def _places(output: Path) -> dict[str, Path]:
    """Looked at before any work."""
    from modeldyno.core.errors import InputError
    from modeldyno.reports.files import make_folder, targets
    from modeldyno.reports.formats import FORMATS

    named = next((name for name in FORMATS.names() if FORMATS.get(name).ending == output.suffix.lower()), None)
    if named is None:
        raise InputError(f"{output} names no format; let it end in .html, .md, .pdf or .json.")
    make_folder(output.parent)
    return targets((named,), output)


def _report(found: Validation, store: Store, places: dict[str, Path], command: str) -> None:
    from modeldyno.core.spoken import now
    from modeldyno.reports.files import needing_packages, rendered, write
    from modeldyno.reports.validation import validation_document

    with needing_packages():
        files = rendered(validation_document(found, store, command, now()), places, lambda *_: None)
    write(files)


def _command(found: Validation, splits: Sequence[str], output: Path | None, store: str | None) -> str:
    import shlex

    words = ["dyno", "predict", "validate", "--metric", found.metric, "--split", ",".join(splits)]
    words += ["--seed", str(found.seed), "--output", str(output), *(["--store", store] if store else [])]
    return shlex.join(words)


def _split_table(scores: Sequence[Score]) -> Table:
    from modeldyno.cli._tables import new_table
    from modeldyno.predict.validation import SPLITS

    table = new_table("Asked for what was hidden", ["split", "hidden", *_HEADINGS])
    for score in scores:
        table.add_row(score.name, SPLITS[score.name].value, *_texts(score))
    return table


def _group_tables(found: Validation) -> list[Table]:
    return [_group_table(kind, groups) for kind, groups in found.groups.items() if len(groups) > 1]


def _group_table(kind: str, groups: Sequence[Group]) -> Table:
    from modeldyno.cli._tables import new_table

    more = f", {WORST} of {len(groups)}" if len(groups) > WORST else ""
    table = new_table(f"By {kind}, worst first{more}", [kind, *_HEADINGS, "to its split"])
    for group in groups[:WORST]:
        table.add_row(group.score.name, *_texts(group.score), f"{group.to_split:.2f}")
    return table


def _texts(score: Score) -> tuple[str, ...]:
    width = "-" if score.half_width is None else f"x {score.half_width:.2f}"
    return (
        str(score.cells),
        *(_share(value, 1) for value in (score.median_error, score.mean_error)),
        *(_share(value, 0) for value in (score.within_15_percent, score.coverage)),
        width,
        _share(score.abstained, 0),
    )


def _share(value: float | None, digits: int) -> str:
    return "-" if value is None else f"{value:.{digits}%}"
