"""A folder of the cache: files appear whole or not at all, whoever else is writing the same ones."""

from __future__ import annotations

import os
import shutil
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays


class Shelf:
    """What is kept of one prepared model."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def text(self, name: str) -> str | None:
        try:
            return (self.folder / name).read_text(encoding="utf-8")
        except (FileNotFoundError, UnicodeDecodeError):
            return None

    def put_text(self, name: str, text: str) -> None:
        self.put(name, lambda path: path.write_text(text, encoding="utf-8"))

    def arrays(self, name: str) -> Arrays | None:
        """The arrays kept under `name`; None where there are none or the file is damaged."""
        import numpy as np

        try:
            with (self.folder / name).open("rb") as file, np.load(file, allow_pickle=False) as found:
                return {key: found[key] for key in found.files}
        except (FileNotFoundError, zipfile.BadZipFile, EOFError, ValueError):
            return None

    def put_arrays(self, name: str, arrays: Arrays) -> None:
        import numpy as np

        def write(path: Path) -> None:
            with path.open("wb") as file:
                np.savez(file, allow_pickle=False, **arrays)

        self.put(name, write)

    def put_folder(self, name: str, fill: Callable[[Path], object]) -> Path:
        """Let `fill` write a folder, then move it into place; the first of several writers wins."""
        target = self.folder / name
        draft = Path(tempfile.mkdtemp(prefix=f".{name}-", dir=self.folder))
        try:
            fill(draft)
            try:
                draft.rename(target)
            except OSError:
                if not target.is_dir():
                    raise
        finally:
            shutil.rmtree(draft, ignore_errors=True)
        return target

    def put(self, name: str, write: Callable[[Path], object]) -> None:
        """Let `write` fill a file, then move it into place."""
        handle, draft = tempfile.mkstemp(prefix=f".{name}-", dir=self.folder)
        os.close(handle)
        path = Path(draft)
        try:
            write(path)
            path.replace(self.folder / name)
        finally:
            path.unlink(missing_ok=True)
