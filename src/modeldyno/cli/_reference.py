"""Writes the reference pages that tests keep true: `python -m modeldyno.cli._reference docs`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from modeldyno.core.metrics import METRICS


def cli_page() -> str:
    """Every command with its arguments and options, in Markdown."""
    import typer.main

    from modeldyno.cli import build

    lines = ["# The command line", "", "Made by `python -m modeldyno.cli._reference docs`; a test keeps it true.", ""]
    for path, command in _commands("dyno", typer.main.get_command(build())):
        lines += [f"## `{path}`", "", _one_line(command.help), ""]
        lines += _table(command)
    return "\n".join(lines).rstrip() + "\n"


def metrics_page() -> str:
    """The metric table, in Markdown."""
    lines = ["# Metrics", "", "Made by `python -m modeldyno.cli._reference docs`; a test keeps it true.", ""]
    lines += ["| metric | unit | better | meaning |", "|---|---|---|---|"]
    lines += [f"| `{m.name}` | {m.unit or '-'} | {m.direction.value} | {m.meaning} |" for m in METRICS.values()]
    return "\n".join(lines) + "\n"


def schema_page() -> str:
    """The tables and views of the store, asked of a database, in Markdown."""
    from modeldyno.store.schema import describe

    version, relations = describe()
    lines = [
        "# The store's tables",
        "",
        "Made by `python -m modeldyno.cli._reference docs`; a test keeps it true.",
        "",
        f"Schema {version}. Ask with `dyno db sql`; [store.md](store.md) says how. Begin with the view `results`. All",
        "moments are in UTC. A `metric` is `STRUCT(value, low, high, n, note)`: write `latency_ms.value`.",
        "",
    ]
    for relation in relations:
        lines += [f"## {'View' if relation.is_view else 'Table'} `{relation.name}`", "", relation.meaning, ""]
        lines += ["| column | type | key | meaning |", "|---|---|---|---|"]
        for column in relation.columns:
            kind = f"{column.type}{', required' if column.required else ''}"
            lines.append(f"| `{column.name}` | {kind} | {column.key} | {column.meaning} |")
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


def report_schema() -> str:
    """What `dyno report --format json` writes, as JSON Schema."""
    import json

    from modeldyno.reports.document import Document

    return json.dumps(Document.model_json_schema(), indent=2) + "\n"


PAGES = {"cli.md": cli_page, "metrics.md": metrics_page, "schema.md": schema_page, "report.schema.json": report_schema}


def _commands(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    for name, child in sorted(getattr(command, "commands", {}).items()):
        yield from _commands(f"{path} {name}", child)


def _table(command: Any) -> list[str]:
    rows = [_row(parameter) for parameter in command.params if parameter.name != "help"]
    return ["| argument or option | meaning |", "|---|---|", *rows, ""] if rows else []


def _row(parameter: Any) -> str:
    names = [*parameter.opts, *parameter.secondary_opts]
    if parameter.param_type_name == "argument":
        names = [parameter.metavar or str(parameter.name).upper()]
    default = parameter.default
    shown = f" Default: `{default}`." if isinstance(default, str | int | float) and default not in (False, "") else ""
    name = ", ".join(f"`{name}`" for name in names).replace("|", "\\|")
    return f"| {name} | {_one_line(getattr(parameter, 'help', None))}{shown} |"


def _one_line(text: str | None) -> str:
    return " ".join((text or "").split())


if __name__ == "__main__":
    for page, write in PAGES.items():
        (Path(sys.argv[1]) / page).write_text(write(), encoding="utf-8")
