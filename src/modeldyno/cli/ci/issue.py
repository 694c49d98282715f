"""`dyno ci issue`: one issue for each confirmed regression."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_note
from modeldyno.core.spoken import comma_list

if TYPE_CHECKING:
    from modeldyno.ci.issue import Filed
    from modeldyno.ci.report import GateReport


def issue(
    report: Annotated[Path, typer.Argument(metavar="REPORT", help="A file of dyno gate --json.")],
    label: Annotated[str, typer.Option(help="Labels of a new issue.")] = "performance,regression",
    close_fixed: Annotated[
        bool, typer.Option("--close-fixed", help="Close the issues of regressions that are gone.")
    ] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Print the issues and send nothing.")] = False,
    json: JsonOption = False,
    store: StoreOption = None,  # noqa: ARG001 - every command takes it
) -> None:
    """Open or update one issue for each confirmed regression. Needs GITHUB_TOKEN."""
    from modeldyno.ci.github import GitHub
    from modeldyno.ci.issue import file_issues
    from modeldyno.ci.report import read_report

    found = read_report(report)
    labels = comma_list(label)
    github = None if dry_run else GitHub.from_environment(os.environ)
    if github is None:
        _print_unsent(found, labels, json)
        if not dry_run:
            print_note("Nothing was sent: neither GITHUB_TOKEN nor GH_TOKEN is set.")
        return
    done = []
    for filed in file_issues(github, found, labels, close_fixed):
        done.append(_document(filed))
        if not json:
            print_line(f"{filed.action}: {filed.subject.title}: {filed.url}")
    if json:
        print_json({"issues": done})
    elif not done:
        print_line("No confirmed regression, and no issue to change.")


def _document(filed: Filed) -> dict[str, Any]:
    first = filed.subject.first
    about = {"case": first.case, "case_key": first.case_key, "metric": first.metric, "title": filed.subject.title}
    return {"action": filed.action, "number": filed.number, "url": filed.url, **about}


def _print_unsent(report: GateReport, labels: list[str], json: bool) -> None:
    """What would be opened, were no issue open yet."""
    from modeldyno.ci.issue import body, subjects

    wanted = [subject for subject in subjects(report) if subject.is_regression]
    texts = [{"title": subject.title, "labels": labels, "body": body(report, subject)} for subject in wanted]
    if json:
        print_json({"issues": [{"action": "printed", **text} for text in texts]})
        return
    for text in texts:
        print_line(f"Title: {text['title']}\nLabels: {', '.join(labels)}\n\n{text['body']}")
    if not texts:
        print_line("No confirmed regression: no issue would be opened.")
