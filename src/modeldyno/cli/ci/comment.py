"""`dyno ci comment`: the gate's verdict as the one comment on a pull request."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note


def comment(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A file of dyno gate --json.")],
    pr: Annotated[int | None, typer.Option(min=1, help="The pull request; else the one that the job runs for.")] = None,
    name: Annotated[str, typer.Option(help="One comment per name: give each of several gates its own.")] = "gate",
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the comment and send nothing.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """Write the gate's verdict into the pull request: one comment, updated in place. Needs GITHUB_TOKEN."""
    from modeldyno.ci.comment import marker, pull_request, put, render
    from modeldyno.ci.github import GitHub
    from modeldyno.ci.report import read_report
    from modeldyno.core.errors import InputError

    body = render(read_report(report), name)
    number = pr or pull_request(os.environ)
    github = None if dry_run else GitHub.from_environment(os.environ)
    if github is None:
        _print_unsent(body, number, json, dry_run)
        return
    if number is None:
        raise InputError("This job does not say for which pull request it runs; give --pr.")
    done = put(github, number, marker(name), body)
    if json:
        print_json({"action": done.action, "pull_request": number, "url": done.url, "body": body})
    else:
        print_line(f"{done.action}: {done.url}")


def _print_unsent(body: str, number: int | None, json: bool, dry_run: bool) -> None:
    if json:
        print_json({"action": "printed", "pull_request": number, "url": None, "body": body})
    else:
        print_line(body.rstrip("\n"))
    if not dry_run:
        print_note("Nothing was sent: neither GITHUB_TOKEN nor GH_TOKEN is set.")
