"""`dyno models`: the catalogue, and what is known of one model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_table

if TYPE_CHECKING:
    from modeldyno.models import Entry

app = typer.Typer(help="The models that can be measured: list them, or show one.", invoke_without_command=True)

FamilyOption = Annotated[str | None, typer.Option("--family", help="embedding, text_generation, vision, ...")]
ArchitectureOption = Annotated[str | None, typer.Option("--architecture", help="encoder-only, vision, ...")]
SizeOption = Annotated[str | None, typer.Option("--size", help="tiny, small, base, large, xl or xxl.")]


@app.callback()
def default(context: typer.Context) -> None:
    """The models that can be measured: list them, or show one."""
    if context.invoked_subcommand is None:
        list_models()


@app.command("list")
def list_models(
    family: FamilyOption = None,
    architecture: ArchitectureOption = None,
    size: SizeOption = None,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """List the catalogue; any Hugging Face id in the local cache, folder, config.json or ONNX file works too."""
    from modeldyno.cli._tables import new_table

    chosen = _filter(family, architecture, size)
    if json:
        print_json({"models": [_document(entry) for entry in chosen]})
        return
    table = new_table("Models", ["name", "architecture", "family", "parameters", "size", "Hugging Face id"])
    for entry in chosen:
        row = _document(entry)
        cells = (row["name"], row["architecture"], row["family"], _millions(entry.parameters), row["size"])
        table.add_row(*map(str, cells), str(row["id"] or "-"))
    print_table(table)


def _filter(family: str | None, architecture: str | None, size: str | None) -> list[Entry]:
    from modeldyno import models
    from modeldyno.core.errors import UnknownName

    entries = [_document(entry) for entry in models.catalogue()]
    for kind, wanted in (("family", family), ("architecture", architecture), ("size", size)):
        known = {str(entry[kind]) for entry in entries}
        if wanted is not None and wanted not in known:
            raise UnknownName(kind, wanted, known)
    wanted_pairs = [("family", family), ("architecture", architecture), ("size", size)]
    return [
        entry
        for entry in models.catalogue()
        if all(value is None or _document(entry)[kind] == value for kind, value in wanted_pairs)
    ]


def _document(entry: Entry) -> dict[str, object]:
    from modeldyno import models

    return {
        "name": entry.name,
        "id": entry.hf_id,
        "architecture": models.resolve(entry.name).architecture,
        "family": entry.family,
        "class": entry.model_class,
        "parameters": entry.parameters,
        "size": models.size_class(entry.parameters),
    }


@app.command("show")
def show_model(
    model: Annotated[str, typer.Argument(help="Catalogue name, Hugging Face id, folder, config.json or ONNX file.")],
    batch: Annotated[int, typer.Option(help="Batch size for the operation count.")] = 1,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """Show one model: architecture, size and operations, counted without building it."""
    from modeldyno import models
    from modeldyno.cli._tables import new_table

    spec = models.resolve(model)
    counts = models.count(spec, batch, dict(spec.axes))
    document = {
        "name": spec.name,
        "architecture": spec.architecture,
        "family": spec.family,
        "model_type": spec.model_type,
        "parameters": counts.parameters,
        "size": models.size_class(counts.parameters) if counts.parameters is not None else None,
        "gflop": counts.gflop,
        "gflop_reason": counts.gflop_reason,
        "shape": {"batch": batch, **spec.axes},
        "weights": "pretrained" if spec.has_checkpoint else "random",
    }
    if json:
        print_json(document)
        return
    table = new_table(spec.name, ["", " "])
    for key, value in document.items():
        if value is not None and key != "name":
            table.add_row(key, str(value))
    print_table(table)


def _millions(parameters: int) -> str:
    return f"{parameters / 1e6:,.1f} M"
