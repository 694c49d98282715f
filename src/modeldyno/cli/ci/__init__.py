"""`dyno ci`: tell GitHub what a gate found; one file per command."""

from __future__ import annotations

import sys

import typer

from modeldyno.cli._folder import add_commands

app = typer.Typer(help="Tell GitHub what a gate found.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Tell GitHub what a gate found."""


add_commands(app, sys.modules[__name__])
