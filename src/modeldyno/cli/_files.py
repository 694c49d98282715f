"""Writing a file that a user asked for."""

from __future__ import annotations

from pathlib import Path


def write_new(output: Path, text: str, force: bool) -> None:
    """Raises InputError where it is there already, unless forced, or cannot be written."""
    from modeldyno.core.errors import InputError

    try:
        output.parent.mkdir(parents=True, exist_ok=True)
        with output.open("w" if force else "x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise InputError(f"{output} is there already; give --force to overwrite it, or another --output.") from None
    except OSError as error:
        raise InputError(f"Cannot write {output}: {error.strerror}; choose another --output.") from None
