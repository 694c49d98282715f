"""`dyno predict MODEL`, and `dyno predict --questions FILE`: cells that nobody measured."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table, print_warning
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.predict.asking import Answer, Answered, Wanted
    from modeldyno.store.store import Store


def model(
    name: Annotated[str | None, typer.Argument(metavar="[MODEL]", help="Catalogue name, id, folder or file.")] = None,
    on: Annotated[str | None, typer.Option("--on", help="Platforms or devices: cpu,h200. Default: all known.")] = None,
    runtime: Annotated[str | None, typer.Option(help="Runtimes, comma-separated. Default: those known there.")] = None,
    precision: Annotated[str | None, typer.Option(help="Precisions, comma-separated.")] = None,
    batch: Annotated[int, typer.Option(min=1, help="Batch size.")] = 1,
    shape: Annotated[list[str] | None, typer.Option(help="Sizes beyond the batch: --shape seq=128.")] = None,
    metric: Annotated[str, typer.Option(help="latency_ms, memory_peak_mb or energy_j.")] = "latency_ms",
    questions: Annotated[Path | None, typer.Option(help="A table of questions (Parquet or CSV).")] = None,
    output: Annotated[Path | None, typer.Option(help="Where the answers go: .parquet or .csv.")] = None,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Predict time per item, memory or energy of a model on devices that are known, or answer a table of questions."""
    from modeldyno.cli._cases import one_shape
    from modeldyno.core.errors import InputError
    from modeldyno.core.metrics import metric as known_metric
    from modeldyno.predict.asking import Wanted

    opened = open_store(store)
    if questions:
        _answer_table(opened, questions, output, json)
    elif name:
        wanted = Wanted(
            name,
            _words(on),
            _words(runtime),
            _words(precision),
            batch,
            one_shape(None, shape),
            known_metric(metric).name,
        )
        _answer_model(opened, wanted, json)
    else:
        raise InputError("Neither a model nor a table was asked about; write dyno predict MODEL or --questions FILE.")


def _answer_table(store: Store, questions: Path, output: Path | None, json: bool) -> None:
    from modeldyno.predict.asking import answer_table, write_answers

    answered = answer_table(store, questions, warn=print_warning)
    if output:
        write_answers(output, answered)
    if json or not output:
        print_json({"target": answered.target, "answers": [_document(answer) for answer in answered.answers]})
        return
    print_line(_told(answered, output))


def _told(answered: Answered, output: Path) -> str:
    silent = sum(answer.abstained for answer in answered.answers)
    return (
        f"{len(answered.answers)} answers for {answered.target} in {output}, {silent} of them abstained; "
        f"{answered.calibration} measurements of the table were used."
    )


def _document(answer: Answer) -> dict[str, Any]:
    return {"id": answer.id, "predicted": answer.predicted, "low": answer.low, "high": answer.high} | {
        "abstained": answer.abstained,
        "why": answer.why,
    }


def _answer_model(store: Store, wanted: Wanted, json: bool) -> None:
    from modeldyno.cli._tables import new_table
    from modeldyno.predict.asking import answer_model, predictions
    from modeldyno.predict.stored import LATENCY

    told = answer_model(store, wanted, say=print_note)
    if json:
        print_json(predictions(wanted, told))
        return
    figure = "ms per item" if wanted.metric == LATENCY else wanted.metric
    headings = ["device", "runtime", "precision", figure, "90 % interval", "rests on"]
    table = new_table(f"{wanted.model}, batch {wanted.batch}", headings)
    for row in told:
        runtime = f"{row.cell.runtime} {row.cell.setting}".strip()
        table.add_row(row.cell.device, runtime, row.cell.precision, *row.texts())
    print_table(table)
    print_note("Predicted unless the last column says measured; see docs/predict.md.")


def _words(said: str | None) -> tuple[str, ...]:
    return tuple(word.strip() for word in said.split(",") if word.strip()) if said else ()
