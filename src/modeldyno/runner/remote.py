"""A server as the place of results: durable here first, sent with patience, and gone from here only when they are
there."""

from __future__ import annotations

import os
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from modeldyno.client import Client, ServerAway, ServerError
from modeldyno.core.errors import InputError
from modeldyno.store.spool import kind_of, unused
from modeldyno.store.store import FoldReport, Store

PATIENCE_S = 10.0
"""How long a server that does not answer is tried again."""
PART = 8_000_000
"""Bytes that are sent at once, about."""
_DENIED = (401, 403)
_NOT_NOW = (*_DENIED, 408, 429)
"""Answers that are not about the file: the next one would have the same."""
_NO_LINE = 422
"""How a server that takes results answers to none."""


def is_address(option: str) -> bool:
    return option.startswith(("http://", "https://"))


class RemoteStore(Store):
    """What a run needs of a store. Building one touches nothing; there is no database here, only the spool."""

    def __init__(self, url: str, token: str | None = None, patience_s: float = PATIENCE_S) -> None:
        self.client = Client(url, token, patience_s=patience_s)
        self.url = self.client.url
        super().__init__(_waiting_room() / re.sub(r"[^A-Za-z0-9.-]+", "-", self.url))

    @classmethod
    def named(cls, url: str) -> RemoteStore:
        """With the token of `DYNO_TOKEN`."""
        return cls(url, os.environ.get("DYNO_TOKEN") or None)

    def check(self) -> str | None:
        """Before anything is measured: an error where results would be refused, a sentence where nobody answers."""
        try:
            self.client.send_lines(b"")
        except ServerError as error:
            if error.status in _DENIED:
                raise InputError(
                    f"{self.url} takes results only from those it knows; set DYNO_TOKEN to a token of dyno users token."
                ) from None
            if error.status != _NO_LINE and error.status < 500:
                raise InputError(f"{self.url} is no server of modeldyno: {error}") from None
        except ServerAway as error:
            return f"{error}; results will wait in {self.spool}."
        return None

    def whereabouts(self, run_id: str) -> str:
        """Where a run is now, as a sentence."""
        if (self.spool / f"{run_id}.ndjson").exists():
            return f"Run {run_id} waits in {self.spool} for {self.url}."
        return f"Run {run_id}; see it at {self.url}/dashboard/runs/{run_id}"

    def fold(self) -> FoldReport:
        """Send what waits; what cannot be sent stays, and is told of."""
        report = FoldReport()
        for path in sorted(self.spool.glob("*.ndjson")) if self.spool.is_dir() else ():
            with unused(path) as idle:
                if idle:
                    try:
                        report += self._send(path)
                    except (ServerAway, ServerError) as error:
                        if not _is_about_file(error):
                            return report + FoldReport(torn=(self._stays(error),))
                        report += FoldReport(torn=(self._refused(path, error),))
        return report

    def _send(self, path: Path) -> FoldReport:
        content = path.read_bytes()
        whole, _, torn = content.rpartition(b"\n")
        lines = [line + b"\n" for line in whole.split(b"\n") if line]
        new = sum(self.client.send_lines(part).new for part in _parts(lines))
        if not torn:
            path.unlink()
            return FoldReport(Counter(record=new))
        kept = path.with_suffix(".torn")
        path.replace(kept)
        return FoldReport(Counter(record=new), (f"{kept} keeps a line that was cut off; the others are sent.",))

    def _refused(self, path: Path, error: Exception) -> str:
        return f"{self.url} refused {path} ({str(error).rstrip('.')}); it stays there: mend it, or move it elsewhere."

    def _stays(self, error: Exception) -> str:
        waiting = sum(
            kind_of(line) == "record" for path in self.spool.glob("*.ndjson") for line in path.read_bytes().splitlines()
        )
        return (
            f"The results could not be sent ({str(error).rstrip('.')}); {waiting} wait in {self.spool} and are sent "
            f"with the next dyno run --store {self.url}"
        )


def _is_about_file(error: Exception) -> bool:
    """Whether the server takes others all the same."""
    return isinstance(error, ServerError) and 400 <= error.status < 500 and error.status not in _NOT_NOW


def _parts(lines: list[bytes]) -> Iterator[bytes]:
    """In pieces that a server takes; a run's line stands before its records, so that it is there already for others."""
    part: list[bytes] = []
    size = 0
    for line in lines:
        if part and size + len(line) > PART:
            yield b"".join(part)
            part, size = [], 0
        part.append(line)
        size += len(line)
    if part:
        yield b"".join(part)


def _waiting_room() -> Path:
    """Where data of the user's lie: not in a cache, which people empty."""
    home = os.environ.get("XDG_DATA_HOME")
    return (Path(home) if home else Path.home() / ".local" / "share") / "modeldyno" / "waiting"
