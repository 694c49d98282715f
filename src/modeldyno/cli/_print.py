"""Where text leaves the program: results to stdout, everything else to stderr."""

from __future__ import annotations

import json
import os
import sys
from datetime import datetime
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

WIDE = 170
PIPE_WIDTH = 180


def print_json(document: Any) -> None:
    """One JSON document on stdout and nothing else."""
    sys.stdout.write(json.dumps(document, indent=2, ensure_ascii=False, allow_nan=False, default=_moment) + "\n")


def _moment(value: Any) -> str:
    if isinstance(value, datetime):
        return value.isoformat()
    raise TypeError(f"{type(value).__name__} has no place in JSON")


def print_line(text: str) -> None:
    sys.stdout.write(text + "\n")


def print_table(*renderables: RenderableType) -> None:
    for renderable in renderables:
        _console().print(renderable)


def print_note(text: str) -> None:
    sys.stderr.write(f"{text}\n")


def print_warning(text: str) -> None:
    sys.stderr.write(f"Warning: {text}\n")


def print_error(text: str) -> None:
    sys.stderr.write(f"Error: {text}\n")


def has_room() -> bool:
    """Whether a table may be as wide as its text."""
    return width() >= WIDE


def _console() -> Console:
    from rich.console import Console

    # A pipe has no width of its own: take what the user says, else what keeps most tables on one line per row.
    known = sys.stdout.isatty() or "COLUMNS" in os.environ
    return Console(width=None if known else PIPE_WIDTH, highlight=False, markup=False)


def width() -> int:
    """How many characters fit on a line."""
    return _console().width
