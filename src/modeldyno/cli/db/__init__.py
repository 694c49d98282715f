"""`dyno db`: work on the store itself; one file per command."""

from __future__ import annotations

import sys

import typer

from modeldyno.cli._folder import add_commands

app = typer.Typer(help="Work on the store itself.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Work on the store itself."""


add_commands(app, sys.modules[__name__])
