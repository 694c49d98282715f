"""`dyno plan`: how to train a model on many GPUs."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.advise.plan import Candidate, Plan

_PARTS = ("parameters", "gradients", "optimizer", "activations", "buffers", "overhead", "total")


def plan(
    model: Annotated[str, typer.Argument(help="Catalogue name, Hugging Face id, folder or config.json.")],
    gpus: Annotated[int, typer.Option(help="GPUs of one node.")],
    max_memory_gb: Annotated[float, typer.Option(help="Memory of one GPU, in GB of 10^9 bytes.")],
    nodes: Annotated[int, typer.Option(help="Nodes with that many GPUs each.")] = 1,
    precision: Annotated[str, typer.Option(help="Of matrix products: bf16, fp16 or fp32.")] = "bf16",
    optimizer: Annotated[str, typer.Option(help="adamw or sgd.")] = "adamw",
    seq: Annotated[int | None, typer.Option(help="Sequence length, for models that have one.")] = None,
    shape: Annotated[list[str] | None, typer.Option(help="Sizes of other axes: --shape image=448.")] = None,
    global_batch: Annotated[
        int | None, typer.Option(help="Examples that one step learns from; else 8 for each GPU.")
    ] = None,
    micro_batch: Annotated[
        int | None, typer.Option(help="Examples that one GPU takes at once; else as many as fit.")
    ] = None,
    tensor: Annotated[int | None, typer.Option(help="Only with this degree of tensor parallelism.")] = None,
    pipeline: Annotated[int | None, typer.Option(help="Only with this many stages of a pipeline.")] = None,
    output: Annotated[Path | None, typer.Option(help="Write a training script for the plan.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the script.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """Plan training on many GPUs: memory of each by estimate, the simplest way that fits, and a script for it."""
    from modeldyno.advise.plan import Request, make_plan
    from modeldyno.advise.script import command, render
    from modeldyno.cli._cases import one_shape
    from modeldyno.cli._files import write_new

    sizes = one_shape(seq, shape)
    of_cluster, of_batch = (gpus, nodes, tensor, pipeline), (global_batch, micro_batch)
    made = make_plan(Request(model, max_memory_gb, precision, optimizer, sizes, *of_cluster, *of_batch))
    if output:
        write_new(output, render(made, output.name), force)
    start = command(made, str(output or "train.py"))
    if json:
        print_json(_document(made) | {"command": start, "script": str(output) if output else None})
    else:
        _print(made, start, output)


def _print(made: Plan, start: str, output: Path | None) -> None:
    print_line(_title(made))
    print_table(_table(made))
    print_line(made.why)
    if made.chosen.memory and made.chosen.memory.host:
        host = made.chosen.memory.host * made.request.gpus / 1e9
        print_line(f"Each node needs {host:.1f} GB of the host's memory for what lies there.")
    print_line(f"  {start}" if output else f"  {start}      (write it with --output train.py)")
    print_note("Estimated, nothing was measured; docs/plan.md says what from.")


def _title(made: Plan) -> str:
    request, size = made.request, f"{made.anatomy.parameters / 1e9:.3g} G parameters"
    axes = [f"{axis} {size}" for axis, size in made.shape.items()]
    asked = [size, request.precision, request.optimizer, *axes, f"{request.batch} examples a step"]
    return f"{made.spec.name}: {', '.join(asked)}, on {request.cluster.world} x {request.max_memory_gb:g} GB"


def _table(made: Plan) -> Table:
    from modeldyno.cli._tables import new_table

    title = "GB of one GPU, the one that needs most"
    table = new_table(title, ["way", "micro-batch", "accumulate", *_PARTS, "fits"])
    for column in table.columns[1:-1]:
        column.justify = "right"
    for one in made.candidates:
        cells = [f"{value:.2f}" for value in _gigabytes(one).values()] or [""] * len(_PARTS)
        counts = [str(count) if count else "" for count in (one.micro_batch, one.accumulate)]
        table.add_row(one.name, *counts, *cells, _fits(made, one))
    return table


def _fits(made: Plan, one: Candidate) -> str:
    if one is made.chosen:
        return "chosen"
    return one.reason or ("yes" if one.fits(made.request.room) else "no")


def _gigabytes(one: Candidate) -> dict[str, float]:
    return {part: getattr(one.memory, part) / 1e9 for part in _PARTS} if one.memory else {}


def _document(made: Plan) -> dict[str, Any]:
    request = made.request
    return {
        "model": made.spec.name,
        "parameters": made.anatomy.parameters,
        "shape": dict(made.shape),
        "provenance": "predicted",
        **{key: getattr(request, key) for key in ("precision", "optimizer", "max_memory_gb")},
        "gpus": request.gpus,
        "nodes": request.nodes,
        "global_batch": request.batch,
        "candidates": [_candidate(made, one) for one in made.candidates],
        "chosen": _candidate(made, made.chosen),
        "why": made.why,
    }


def _candidate(made: Plan, one: Candidate) -> dict[str, Any]:
    memory = {f"{part}_gb": round(value, 3) for part, value in _gigabytes(one).items()}
    return {
        "name": one.name,
        "layout": asdict(one.layout) if one.layout else None,
        "micro_batch": one.micro_batch,
        "accumulate": one.accumulate,
        "memory": memory or None,
        "host_gb": round(one.memory.host / 1e9, 3) if one.memory else None,
        "fits": one.fits(made.request.room),
        "reason": one.reason,
    }
