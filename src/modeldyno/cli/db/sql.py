"""`dyno db sql`: ask the store in SQL."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_table, print_warning, width
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.store.ask import Answer

FORMATS = ("table", "csv", "json", "markdown")
ENDINGS = {".csv": "csv", ".json": "json", ".md": "markdown"}
SCREENFUL = 200
NARROWEST = 8
"""Characters of a column below which a table is no help; then each row gets a table of its own."""


def sql(
    query: Annotated[str, typer.Argument(help="One SELECT; docs/schema.md has the tables and views.")],
    format_name: Annotated[
        str | None,
        typer.Option("--format", help="table, csv, json or markdown; else by the ending of --output, else a table."),
    ] = None,
    output: Annotated[Path | None, typer.Option(help="Write to this file.")] = None,
    limit: Annotated[int | None, typer.Option(min=0, help="At most this many rows; a table shows 200.")] = None,
    timeout: Annotated[float, typer.Option(min=0.001, help="Seconds the question may take.")] = 60.0,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Ask the store in SQL. Only reading is possible, and only the store: no files, no network."""
    from modeldyno.store.ask import ask

    shape = _format("json" if json else format_name, output)
    most = limit if limit is not None else SCREENFUL if shape == "table" else None
    with ask(open_store(store).existing(), query, timeout) as answer:
        if shape == "table":
            _print_rows(answer, most)
            return
        with _opened(output) as file:
            _WRITERS[shape](file, answer.columns, islice(answer.rows, most))


def _format(name: str | None, output: Path | None) -> str:
    from modeldyno.core.errors import InputError, UnknownName

    if name is None:
        name = ENDINGS.get(output.suffix.lower(), "csv") if output else "table"
    if name not in FORMATS:
        raise UnknownName("format", name, FORMATS)
    if name == "table" and output:
        raise InputError("A table is made for the screen; choose --format csv, json or markdown for --output.")
    return name


@contextmanager
def _opened(output: Path | None) -> Iterator[IO[str]]:
    """The file to write to, or stdout; a file has its name only when it is complete."""
    from modeldyno.core.errors import InputError

    if output is None:
        yield sys.stdout
        return
    partial = output.with_name(output.name + ".partial")
    try:
        with partial.open("w", encoding="utf-8", newline="") as file:
            yield file
        partial.replace(output)
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror}; choose another --output.") from None
    finally:
        partial.unlink(missing_ok=True)


def _print_rows(answer: Answer, most: int | None) -> None:
    from modeldyno.cli._tables import new_table

    rows = islice(answer.rows, most)
    if len(answer.columns) * NARROWEST <= width():
        table = new_table("", list(answer.columns))
        for row in rows:
            table.add_row(*map(_text, row))
        print_table(table)
    else:
        for number, row in enumerate(rows, 1):  # as many lines as columns
            table = new_table(f"Row {number}", ["column", "value"])
            for cells in zip(answer.columns, map(_text, row), strict=True):
                table.add_row(*cells)
            print_table(table)
    if next(answer.rows, None) is not None:
        print_warning(f"Only the first {most} rows are shown; give --limit, or --format csv for all.")


def _write_csv(file: IO[str], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    import csv

    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows([_text(value, missing="") for value in row] for row in rows)


def _write_json(file: IO[str], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    """A list of objects, written as the rows come."""
    import json

    between = "[\n"
    for row in rows:
        document = dict(zip(columns, map(_plain, row), strict=True))
        file.write(f"{between}  {json.dumps(document, ensure_ascii=False, allow_nan=False)}")
        between = ",\n"
    file.write("[]\n" if between == "[\n" else "\n]\n")


def _write_markdown(file: IO[str], columns: Sequence[str], rows: Iterable[tuple[Any, ...]]) -> None:
    def line(cells: Iterable[str]) -> str:
        return "| " + " | ".join(cell.replace("|", "\\|").replace("\n", " ") for cell in cells) + " |\n"

    file.write(line(columns) + "|---" * len(columns) + "|\n")
    for row in rows:
        file.write(line(_text(value) for value in row))


_WRITERS = {"csv": _write_csv, "json": _write_json, "markdown": _write_markdown}


def _text(value: Any, missing: str = "-") -> str:
    """A value as people read it; nested ones as JSON."""
    import json

    if value is None:
        return missing
    plain = _plain(value)
    return json.dumps(plain, ensure_ascii=False) if isinstance(plain, dict | list) else str(value)


def _plain(value: Any) -> Any:
    """A value as JSON can hold it: no number for what is none, text for what JSON has no word for."""
    import math

    if value is None or isinstance(value, str | bool | int):
        return value
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {str(key): _plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(inner) for inner in value]
    return _decimal(value)


def _decimal(value: Any) -> Any:
    from decimal import Decimal

    if isinstance(value, Decimal):
        return float(value)
    return value.isoformat() if hasattr(value, "isoformat") else str(value)
