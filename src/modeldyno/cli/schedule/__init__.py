"""`dyno schedule`: reports that are made again and again; one file per command."""

from __future__ import annotations

import sys

import typer

from modeldyno.cli._folder import add_commands

app = typer.Typer(help="Reports that are made again and again.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Reports that are made again and again."""


add_commands(app, sys.modules[__name__])
