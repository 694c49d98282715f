"""Options that commands share, and a way to share many of them at once."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

Command = Callable[..., None]

StoreOption = Annotated[
    str | None,
    typer.Option(
        "--store",
        metavar="PATH",
        help="The DuckDB file (default: dyno.duckdb, or $DYNO_STORE); dyno run also takes the address of a server.",
    ),
]
JsonOption = Annotated[bool, typer.Option("--json", help="One JSON document on stdout, nothing else there.")]


def bundle(
    place: str, options: Mapping[str, tuple[Any, Any]], make: Callable[..., Any]
) -> Callable[[Command], Command]:
    """Gives a command many options for its one parameter `place`, which gets what `make` makes of them.

    `options` has by name the annotation and what it is when nobody gave it."""
    added = [inspect.Parameter(name, _KIND, default=usual, annotation=kind) for name, (kind, usual) in options.items()]

    def decorate(command: Command) -> Command:
        own = inspect.signature(command, eval_str=True).parameters.values()
        parameters = [new for old in own for new in (added if old.name == place else [old.replace(kind=_KIND)])]

        @functools.wraps(command)
        def whole(**given: Any) -> None:
            told = {name: given.pop(name, usual) for name, (_, usual) in options.items()}
            command(**{place: make(**told)}, **given)

        whole.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
        whole.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
        return whole

    return decorate


_KIND = inspect.Parameter.KEYWORD_ONLY
