"""`dyno predict next`: which measurements would narrow predictions most."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.core.types import Device
    from modeldyno.predict.cells import Cell
    from modeldyno.predict.measure_next import Suggestion


def next(
    budget: Annotated[int, typer.Option(min=1, max=1000, help="How many measurements.")] = 10,
    on: Annotated[str | None, typer.Option("--on", help="Platforms or devices, here or not: cuda,t4.")] = None,
    anywhere: Annotated[bool, typer.Option("--anywhere", help="On all known devices, not only those here.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Say which pairs of model and device to measure next: those that would narrow most predictions most."""
    from modeldyno.core.spoken import comma_list
    from modeldyno.predict.measure_next import suggest
    from modeldyno.predict.runnable import devices_here, first_commands, run_command
    from modeldyno.predict.stored import cells_of, predictor_of

    opened = open_store(store)
    cells = cells_of(opened) if opened.path.exists() else []
    here = devices_here()
    predictor = predictor_of(opened) if cells else None
    if predictor is None:
        _too_few(len(cells), first_commands((), here))
    assert predictor is not None
    local = not on and not anywhere and _known_here(cells, here)
    chosen = (lambda cell: run_command(cell, here) is not None) if local else _named(cells, comma_list(on))
    found = suggest(predictor, cells, budget, chosen)
    fresh = [] if found else first_commands((cell.model for cell in cells), here)
    if json:
        print_json({"budget": budget, "here": local, "next": [_document(one, here) for one in found], "instead": fresh})
    elif found:
        _print(found, here, local)
    else:
        _print_full(local, fresh)


def _too_few(count: int, commands: list[str]) -> None:
    from modeldyno.core.errors import InputError

    raise InputError(
        f"{count} results are too few to tell what else is worth measuring; begin with: {'; '.join(commands)}"
    )


def _known_here(cells: Iterable[Cell], here: Iterable[Device]) -> bool:
    known = {(cell.platform, cell.device) for cell in cells}
    return any((device.platform, device.name) in known for device in here)


def _named(cells: Iterable[Cell], words: list[str]) -> Callable[[Cell], bool]:
    from modeldyno.predict.cells import check_places

    check_places(cells, words)
    return lambda cell: not words or any(cell.is_on(word) for word in words)


def _document(one: Suggestion, here: Iterable[Device]) -> dict[str, Any]:
    from modeldyno.predict.runnable import run_command

    return one.document() | {"command": run_command(one.cell, here)}


def _print(found: list[Suggestion], here: Iterable[Device], local: bool) -> None:
    from modeldyno.predict.runnable import run_command

    where = "on this machine" if local else "on devices that are known"
    print_table(_table(f"What to measure next {where}", found))
    commands = [command for one in found if (command := run_command(one.cell, here))]
    for command in commands:
        print_line(command)
    if not commands:
        print_note("None of them can be measured on this machine.")


def _table(title: str, found: list[Suggestion]) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table(title, ["model", "device", "runtime", "precision", "batch", "why"])
    for one in found:
        cell = one.cell
        table.add_row(cell.model, cell.device, cell.runtime, cell.precision, str(cell.batch), one.why)
    return table


def _print_full(local: bool, fresh: list[str]) -> None:
    where = "on the devices here" if local else "there"
    print_line(f"All known models that can run {where} are measured; a model that is not known yet tells more:")
    for command in fresh:
        print_line(command)
