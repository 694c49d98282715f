"""The spool: one append-only file per run, fsynced after every line, so that a record is durable at once.

A line is `{"kind": "import" | "run" | "record" | "test", ..., "data": {...}}`; the same lines are what runs export and
stores import.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import signal
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pydantic import ValidationError
from pydantic_core import to_json

from modeldyno.core.elsewhere import Import, TestResult
from modeldyno.core.errors import InputError, JobError
from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Record, Run
from modeldyno.store.durable import PARTIAL, sync

Item = Import | Run | Record | TestResult
PATIENCE_S = 10.0
"""How long a writer waits for a fold that looks at its file."""
_TYPES: dict[str, type[Item]] = {"import": Import, "run": Run, "record": Record, "test": TestResult}
_NAMES = {kind: name for name, kind in _TYPES.items()}


def kind_name(item: Item) -> str:
    return _NAMES[type(item)]


def encode(item: Item) -> bytes:
    """The line of an item. Beside it stand the hashes by which the database knows it."""
    name = kind_name(item)
    beside = "".join(f'"{key}":{to_json(value).decode()},' for key, value in _beside(item).items())
    return f'{{"kind":"{name}",{beside}"data":{item.model_dump_json()}}}\n'.encode()


def _beside(item: Item) -> dict[str, Any]:
    if isinstance(item, Run):
        return {"plan_digest": item.plan_digest}
    if not isinstance(item, Record):
        return {}
    beside: dict[str, Any] = {
        "case_key": item.case.key,
        "series_id": item.series_id,
        "device_id": item.device.fingerprint if item.device else None,
    }
    others = {name: metric for name, metric in item.metrics.items() if name not in METRICS}
    return beside | ({"other_metrics": others} if others else {})


_BEGINNINGS = {
    b'{"kind":"import","data":': "import",
    b'{"kind":"run","plan_digest":': "run",
    b'{"kind":"record","case_key":': "record",
    b'{"kind":"test","data":': "test",
}


def kind_of(line: bytes) -> str | None:
    """The kind of a line that this version wrote; None for any other."""
    return next((kind for beginning, kind in _BEGINNINGS.items() if line.startswith(beginning)), None)


def decode(line: bytes) -> Item:
    """The item of a line; a ValueError says what is wrong with it."""
    try:
        document = json.loads(line)
    except RecursionError as error:
        raise ValueError(f"not a line of a spool ({error})") from error
    return from_document(document)


def from_document(document: Any) -> Item:
    """The item of a line that was parsed already; a ValueError says what is wrong with it."""
    try:
        return _TYPES[document["kind"]].model_validate(document["data"])
    except (KeyError, TypeError, RecursionError) as error:
        raise ValueError(f"not a line of a spool ({error})") from error
    except ValidationError as error:
        first = error.errors()[0]
        raise ValueError(f"{'.'.join(map(str, first['loc']))}: {first['msg']}") from error


class SpoolWriter:
    """Appends the lines of one run. When the disk is full it keeps them and tries again with the next one."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._pending: list[bytes] = []
        path.parent.mkdir(parents=True, exist_ok=True)
        self._file = _open_locked(path)

    def append(self, item: Item) -> str | None:
        """Make the item durable; returns a warning sentence when that could not be done yet."""
        with _signals_wait():
            self._pending.append(encode(item))
            try:
                while self._pending:
                    self._write(self._pending[0])
                    self._pending.pop(0)
            except OSError as error:
                return (
                    f"Cannot write {self._path}: {error.strerror}; {len(self._pending)} item(s) are kept in memory, "
                    "free some space and they will be written."
                )
        return None

    def close(self) -> Path | None:
        """Release the file. What could never be written goes to the temporary folder; returns where."""
        rescued = self._rescue() if self._pending else None
        os.close(self._file)
        return rescued

    def _write(self, line: bytes) -> None:
        """All or nothing: half a line is cut off again."""
        size = os.fstat(self._file).st_size
        try:
            rest = line
            while rest:
                rest = rest[os.write(self._file, rest) :]
            os.fsync(self._file)
        except OSError:
            os.ftruncate(self._file, size)
            raise

    def _rescue(self) -> Path:
        data = b"".join(self._pending)
        try:
            descriptor, name = tempfile.mkstemp(prefix="dyno-rescued-", suffix=".ndjson")
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
        except OSError as error:
            raise JobError(
                f"{len(self._pending)} record(s) could be written nowhere ({error.strerror}); "
                f"copy them from here: {data.decode()}"
            ) from error
        return Path(name)


def deposit(path: Path, items: Iterable[Item]) -> None:
    """A whole spool file at once: it has its name only when all of it is durable."""
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(PARTIAL)
    try:
        with partial.open("wb") as file:
            file.writelines(map(encode, items))
            file.flush()
            os.fsync(file.fileno())
        partial.replace(path)
    except BaseException:
        partial.unlink(missing_ok=True)
        raise
    sync(path.parent)


def _open_locked(path: Path) -> int:
    """The open file, locked while the run goes on: a fold by another process leaves it in place, and no second
    process writes the same run.

    A fold holds the lock for a moment, too, and may have taken the file away: then it is made again."""
    deadline = time.monotonic() + PATIENCE_S
    while True:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        with contextlib.suppress(FileNotFoundError, BlockingIOError):
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                sync(path.parent)
                return descriptor
        os.close(descriptor)
        if time.monotonic() > deadline:
            raise InputError(f"Another process is writing the run {path.stem}; wait for it, or start a new run.")
        time.sleep(0.05)


@dataclass(frozen=True)
class SpoolFile:
    """What was found in a spool file."""

    path: Path
    items: tuple[Item, ...]
    torn: tuple[tuple[int, str], ...]
    """Line numbers that could not be read, with the reason."""


def read_spool(path: Path) -> SpoolFile:
    """All whole lines; what is torn or broken is told, not dropped in silence."""
    items: list[Item] = []
    torn: list[tuple[int, str]] = []
    for number, line in enumerate(path.read_bytes().splitlines(keepends=True), 1):
        try:
            if not line.endswith(b"\n"):
                raise ValueError("cut off in the middle")
            items.append(decode(line))
        except ValueError as error:
            torn.append((number, str(error)))
    return SpoolFile(path, tuple(items), tuple(torn))


@contextmanager
def unused(path: Path) -> Iterator[bool]:
    """Whether no writer holds the file; if so, it stays that way inside the block."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield True
    except BlockingIOError:
        yield False
    finally:
        os.close(descriptor)


@contextmanager
def _signals_wait() -> Iterator[None]:
    """A Ctrl-C in the middle of a write is delivered after it."""
    blocked = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGTERM})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, blocked)
