"""Keeps the records of a run: spool first, then the optional file, and the database at the end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from modeldyno.core.errors import InputError, JobError
from modeldyno.core.types import Record, Run
from modeldyno.store.spool import SpoolWriter
from modeldyno.store.store import Store


class Recorder:
    """Opened before the first measurement, closed after the last; folding happens on the way out."""

    def __init__(
        self, store: Store, run: Run, warn: Callable[[str], None], output: Path | None = None, resumed: bool = False
    ) -> None:
        self._store, self._warn = store, warn
        self._writers = [store.writer(run)]
        if output:
            try:
                if not resumed:
                    output.unlink(missing_ok=True)
                self._writers.append(SpoolWriter(output))
            except OSError as error:
                raise InputError(f"Cannot write {output}: {error.strerror}; choose another --output.") from None
        self._append(run)

    def __enter__(self) -> Self:
        return self

    def add(self, record: Record) -> None:
        self._append(record)

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        rescued = [path for writer in self._writers if (path := writer.close())]
        report = None if rescued else self._store.fold()
        for sentence in report.torn if report else ():
            self._warn(sentence)
        if rescued:
            names = ", ".join(map(str, rescued))
            sentence = (
                f"The disk stayed full: the unwritten records are in {names}; "
                f"free space, then run: dyno db import {rescued[0]} --store {self._store.path}"
            )
            if kind is None:
                raise JobError(sentence)
            self._warn(sentence)

    def _append(self, item: Run | Record) -> None:
        for writer in self._writers:
            if warning := writer.append(item):
                self._warn(warning)
