"""The command line: one file per command; the only place that prints."""

from __future__ import annotations

import signal
import sys

import typer

from modeldyno.cli._folder import add_commands
from modeldyno.cli._print import print_error
from modeldyno.core.errors import DynoError


def build() -> typer.Typer:
    """All commands of the folder."""
    app = typer.Typer(
        name="dyno",
        help="Which hardware should run my model, did it get slower, and can I trust this number?",
        no_args_is_help=True,
        invoke_without_command=True,
        add_completion=False,
        pretty_exceptions_enable=False,
        rich_markup_mode=None,
    )
    app.callback()(_root)
    add_commands(app, sys.modules[__name__])
    return app


def _root(
    debug: bool = typer.Option(False, "--debug", help="Show tracebacks."),  # noqa: ARG001 - main() looks at it
    version: bool = typer.Option(False, "--version", help="Print the version and exit."),
) -> None:
    if version:
        from modeldyno import __version__
        from modeldyno.cli._print import print_line

        print_line(__version__)
        raise typer.Exit


def main() -> None:
    """Entry point: turns every error of the tree into one sentence and its exit code."""
    debug = "--debug" in sys.argv
    arguments = [argument for argument in sys.argv[1:] if argument != "--debug"]
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # being told to stop is like Ctrl-C
    try:
        build()(arguments)
    except DynoError as error:
        if debug:
            raise
        print_error(str(error))
        sys.exit(error.exit_code)
    except Exception as error:
        if debug:
            raise
        print_error(f"Unexpected {type(error).__name__}: {error}; run it again with --debug and report the traceback.")
        sys.exit(1)
