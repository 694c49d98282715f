"""`dyno generate`: write files for a project that uses modeldyno; one file per command."""

from __future__ import annotations

import sys

import typer

from modeldyno.cli._folder import add_commands

app = typer.Typer(help="Write files for a project that uses modeldyno.", no_args_is_help=True)


@app.callback()
def root() -> None:
    """Write files for a project that uses modeldyno."""


add_commands(app, sys.modules[__name__])
