"""Asks for a password without showing it."""

from __future__ import annotations

import sys

import typer

from modeldyno.core.errors import InputError

_MOST_BYTES = 16_384


def ask_password(name: str, from_stdin: bool) -> str:
    """Twice at the terminal; or the first line of stdin."""
    if from_stdin:
        return _first_line()
    if not sys.stdin.isatty():
        raise InputError("Nobody is there to type a password; give it in a pipe with --password-stdin.")
    typed: str = typer.prompt(f"Password of {name}", hide_input=True, confirmation_prompt=True, err=True)
    return typed


def _first_line() -> str:
    try:
        line = sys.stdin.buffer.readline(_MOST_BYTES).decode()
    except UnicodeDecodeError:
        raise InputError("The password is no text; give it in UTF-8.") from None
    return line.removesuffix("\n").removesuffix("\r")
