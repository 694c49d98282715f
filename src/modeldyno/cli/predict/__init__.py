"""`dyno predict`: what was not measured; a model's name in place of a command asks for that model."""

from __future__ import annotations

import sys
from typing import Any

import typer
from typer.core import TyperGroup

from modeldyno.cli._folder import add_commands

_USUAL = "model"


class _ModelOrCommand(TyperGroup):
    """`dyno predict bert-base-uncased` means `dyno predict model bert-base-uncased`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] != "--help":
            args = [_USUAL, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    help="Predict what was not measured, with an interval, or say why not.", cls=_ModelOrCommand, no_args_is_help=True
)


@app.callback()
def root() -> None:
    """Predict what was not measured, with an interval, or say why not."""


add_commands(app, sys.modules[__name__])
