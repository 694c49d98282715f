"""What `dyno generate test`, `suite` and `skill` have in common: their options, and where the file goes."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from inspect import Parameter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import Command, JsonOption, StoreOption, bundle
from modeldyno.cli._print import print_json, print_line, print_note

if TYPE_CHECKING:
    from modeldyno.advise.generate import Generated, Wanted


@dataclass(frozen=True)
class Asked:
    """The words of the user."""

    model: str
    on: str
    workload: str
    runtime: str | None
    precision: str
    batch: int
    seq: int | None
    shape: list[str] | None
    output: Path | None
    force: bool
    json: bool
    store: str | None

    def wanted(self) -> Wanted:
        from modeldyno.advise.generate import Wanted
        from modeldyno.cli._cases import one_shape

        shape = one_shape(self.seq, self.shape)
        return Wanted(self.model, self.on, self.workload, self.runtime, self.precision, self.batch, shape)


_OPTIONS: dict[str, tuple[Any, Any]] = {
    "model": (Annotated[str, typer.Argument(help="Catalogue name, Hugging Face id, folder or file.")], Parameter.empty),
    "on": (Annotated[str, typer.Option("--on", help="A platform or device: cpu, cuda:0.")], Parameter.empty),
    "workload": (Annotated[str, typer.Option(help="The kind of benchmark.")], "inference"),
    "runtime": (Annotated[str | None, typer.Option(help="The platform's first where none is named.")], None),
    "precision": (Annotated[str, typer.Option(help="fp32, bf16, fp16 or int8.")], "fp32"),
    "batch": (Annotated[int, typer.Option(min=1, help="The batch size.")], 1),
    "seq": (Annotated[int | None, typer.Option(min=1, help="The sequence length.")], None),
    "shape": (Annotated[list[str] | None, typer.Option(help="Sizes beyond the batch: --shape seq=128.")], None),
    "output": (Annotated[Path | None, typer.Option(help="The file to write; else it is printed.")], None),
    "force": (Annotated[bool, typer.Option("--force", help="Overwrite the file.")], False),
    "json": (JsonOption, False),
    "store": (StoreOption, None),
}


def asking(command: Command) -> Command:
    """Gives a command the options, as its parameter `asked`."""
    return bundle("asked", _OPTIONS, Asked)(command)


def produce(kind: str, asked: Asked) -> None:
    """Make the file, then write or print it."""
    from modeldyno.advise.generate import generate
    from modeldyno.cli._files import write_new
    from modeldyno.cli._store import open_store

    made = generate(kind, asked.wanted(), open_store(asked.store))
    if asked.output:
        write_new(asked.output, made.text, asked.force)
    if asked.json:
        print_json(_document(made, asked.output))
        return
    print_line(f"Wrote {asked.output}." if asked.output else made.text.rstrip("\n"))
    for note in made.notes:
        print_note(note)


def _document(made: Generated, output: Path | None) -> dict[str, Any]:
    """The file is where it was written, else the name that suits it."""
    return {
        "file": str(output or made.name),
        "kind": made.kind,
        "text": made.text,
        "budgets": [asdict(budget) for budget in made.budgets],
        "notes": list(made.notes),
    }
