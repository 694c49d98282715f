"""`dyno users`: who may use the server; one file per command."""

from __future__ import annotations

import sys

import typer

from modeldyno.cli._folder import add_commands

app = typer.Typer(help="Who may use the server.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Who may use the server."""


add_commands(app, sys.modules[__name__])
