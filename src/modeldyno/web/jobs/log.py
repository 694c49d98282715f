"""The log of a job: a text file of limited size beside the store, cleaned of control characters when it is read."""

from __future__ import annotations

import os
import re
from pathlib import Path

LARGEST = 2_000_000
"""Bytes that are kept; what comes after is left out, and the log says so."""
_FULL = b"\n[the log is full; what came after is left out]\n"
_CONTROL = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|[\x00-\x08\x0b-\x1f\x7f-\x9f]")
"""Colours and cursor movements of terminals, and all characters that are not text."""


class JobLog:
    """Appends to the file of one job. Building one touches nothing."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def append(self, data: bytes) -> None:
        """A file that is full stays as it is."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        descriptor = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        with os.fdopen(descriptor, "ab") as file:
            room = LARGEST - file.tell()
            if room > 0:
                file.write(data if len(data) <= room else data[:room] + _FULL)

    def read(self) -> str:
        """All of it as plain text; nothing where nothing was written."""
        try:
            text = self._path.read_bytes().decode(errors="replace")
        except FileNotFoundError:
            return ""
        return _CONTROL.sub("", text.replace("\r\n", "\n").replace("\r", "\n"))
