"""`dyno generate workflow`: a GitHub Actions workflow for this project."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._files import write_new
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_warning


def workflow(
    output: Annotated[Path, typer.Option(help="The file to write.")] = Path(".github/workflows/modeldyno.yml"),
    suite: Annotated[str, typer.Option(help="The suite to measure, as a path in the repository.")] = (
        "suites/default.yaml"
    ),
    install: Annotated[
        str | None, typer.Option(help="What pip installs: '.[cpu]', or a version; else this version with [cpu].")
    ] = None,
    runner: Annotated[str, typer.Option(help="Label of the runner that measures.")] = "ubuntu-latest",
    pages: Annotated[bool, typer.Option("--pages/--no-pages", help="Publish the results to GitHub Pages.")] = True,
    force: Annotated[bool, typer.Option("--force", help="Overwrite the file.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """Write a GitHub Actions workflow: a daily run, a gate for pull requests, issues, published results."""
    from modeldyno.ci.workflow import Workflow

    wanted = Workflow(output.name, suite, install or Workflow.install, runner, pages)
    write_new(output, wanted.render(), force)
    if not Path(suite).is_file():
        print_warning(f"There is no {suite} here; the workflow needs it, so write it or give --suite.")
    if json:
        print_json({"file": str(output), "suite": suite, "install": wanted.install, "runner": runner, "pages": pages})
    else:
        print_line(f"Wrote {output}; docs/ci.md says what to switch on in the repository's settings.")
