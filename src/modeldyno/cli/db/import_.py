"""`dyno db import`: results from elsewhere into the store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table, print_warning
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from modeldyno.importers._batch import FileReport

SHOWN = 20


def import_(
    paths: Annotated[list[Path], typer.Argument(help="Files, or folders with files, of results.")],
    format_name: Annotated[
        str, typer.Option("--format", help="The shape of the files; `auto` recognises it.")
    ] = "auto",
    given: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="What the files do not say: model, platform, ...; repeatable."),
    ] = None,
    mapping: Annotated[
        list[str] | None,
        typer.Option(
            "--map", metavar="NAME=COLUMN[:UNIT]", help="Which column of a table holds what, e.g. latency_ms=t:s."
        ),
    ] = None,
    archive: Annotated[Path | None, typer.Option(help="Move files that were imported into this folder.")] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Read and report, store nothing.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Add results from elsewhere; what cannot be taken is reported and stays. Importing twice adds nothing."""
    from modeldyno.core.errors import JobError
    from modeldyno.importers._batch import Wanted, import_paths

    wanted = Wanted(format_name, _pairs("--set", given or []), _pairs("--map", mapping or []))
    opened = open_store(store)
    done = import_paths(opened, paths, wanted, dry_run, archive)
    reports = list(done.files)
    if json:
        print_json(
            {"store": str(opened.path), "new": dict(done.new), "files": [_document(report) for report in reports]}
        )
    else:
        _print(reports, dry_run)
        if not dry_run:
            print_line(f"New in the store: {done.new['record']} records, {done.new['test']} tests.")
    if not any(report.known or report.counts["records"] or report.counts["tests"] for report in reports):
        raise JobError("Nothing could be imported; see docs/bring-your-results.md for the formats that can be.")


def _pairs(option: str, given: list[str]) -> dict[str, str]:
    from modeldyno.core.errors import InputError

    if bad := next((text for text in given if "=" not in text or text.startswith("=")), None):
        raise InputError(f"{option} {bad} is not NAME=VALUE; write for example {option} model=name.")
    return dict(text.partition("=")[::2] for text in given)


def _document(report: FileReport) -> dict[str, Any]:
    return {
        "file": str(report.file),
        "format": report.format,
        "known": report.known,
        "problem": report.problem,
        "counts": dict(report.counts),
        "rejected": [rejection.model_dump() for rejection in report.rejected],
    }


def _print(reports: list[FileReport], dry_run: bool) -> None:
    from modeldyno.cli._tables import new_table

    table = new_table(
        "Would be imported" if dry_run else "Read",
        ["format", "files", "records", "ok", "failed", "tests", "simulated", "rejected"],
    )
    for name in sorted({report.format for report in reports if report.format}):
        chosen = [report for report in reports if report.format == name]
        keys = ("records", "records ok", "records failed", "tests", "simulated")
        sums = [str(sum(report.counts[key] for report in chosen)) for key in keys]
        table.add_row(name, str(len(chosen)), *sums, str(sum(len(report.rejected) for report in chosen)))
    if table.row_count:
        print_table(table)
    known = sum(report.known for report in reports)
    if known:
        print_line(f"{known} of {len(reports)} files hold what is in the store already; they added nothing.")
    again = sum(report.again is not None for report in reports)
    if again:
        print_line(f"{again} files were read once more, because not all of them could be taken before.")
    problems = [f"{r.file}: {r.problem}" for r in reports if r.problem]
    problems += [f"{r.file}, {x.place}: {x.reason}" for r in reports for x in r.rejected]
    for problem in problems[:SHOWN]:
        print_warning(f"{problem}; it was left out.")
    if len(problems) > SHOWN:
        print_warning(f"{len(problems) - SHOWN} more; --json lists all.")
