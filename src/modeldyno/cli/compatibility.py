"""`dyno compatibility`: which model works on which platform, and what to use instead."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli._store import open_store
from modeldyno.core.spoken import comma_list

if TYPE_CHECKING:
    from modeldyno.analysis.compatibility import Matrix

_UNTRIED = "-"


@choosing("batch", "status", "provenance")
def compatibility(
    choice: Choice = Choice(),
    markdown: Annotated[bool, typer.Option("--markdown", help="As Markdown, for a page or a comment.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Show which model works on which platform, from what really happened, and what to use instead."""
    from modeldyno.analysis import documents
    from modeldyno.analysis.compatibility import matrix
    from modeldyno.store.outcomes import read_tries

    opened = open_store(store)
    made = _on(matrix(read_tries(opened, choice.but(on=None).real())), choice.words.get("on"))
    if json:
        print_json(documents.compatibility(made))
    elif not made.cells:
        print_line("No outcome matches; measure something with: dyno run tiny-bert --on cpu")
    elif markdown:
        _print_markdown(made)
    else:
        _print(made)


def _on(made: Matrix, on: str | None) -> Matrix:
    """Only these platforms are shown; what to use instead may be any."""
    from modeldyno.analysis.compatibility import Matrix

    wanted = comma_list(on)
    if not wanted:
        return made
    cells = tuple(cell for cell in made.cells if cell.platform in wanted)
    models = {cell.model for cell in cells}
    platforms = tuple(platform for platform in made.platforms if platform in wanted)
    return Matrix(tuple(model for model in made.models if model in models), platforms, cells)


def _print(made: Matrix) -> None:
    from modeldyno.cli._tables import new_table

    table = new_table("Compatibility", ["model", *made.platforms])
    for model, row in _rows(made):
        table.add_row(model, *row)
    print_table(table)
    if problems := _problems(made):
        table = new_table("What does not work", ["model", "on", "status", "reason", "instead"])
        for problem in problems:
            table.add_row(*problem)
        print_table(table)


def _print_markdown(made: Matrix) -> None:
    from modeldyno.reports.markdown import code, heading, row

    lines = heading(["model", *map(code, made.platforms)])
    lines += [row([code(model), *statuses]) for model, statuses in _rows(made)]
    if problems := _problems(made):
        lines += ["", *heading(["model", "on", "status", "reason", "instead"])]
        lines += [row([code(model), code(on), status, *map(code, rest)]) for model, on, status, *rest in problems]
    for line in lines:
        print_line(line)


def _rows(made: Matrix) -> list[tuple[str, list[str]]]:
    cells = {(cell.model, cell.platform): cell.status.value for cell in made.cells}
    return [(model, [cells.get((model, platform), _UNTRIED) for platform in made.platforms]) for model in made.models]


def _problems(made: Matrix) -> list[tuple[str, str, str, str, str]]:
    from modeldyno.analysis.advice import problems

    return [(one.model, one.on, one.status, one.why, one.instead) for one in problems(made)]
