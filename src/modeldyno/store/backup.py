"""Backups: a copy taken under the lock, compressed and verified outside of it; and the way back."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import os
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError, JobError
from modeldyno.store.database import connect, is_outdated, locked
from modeldyno.store.durable import PARTIAL, sync
from modeldyno.store.rewrite import tables
from modeldyno.store.store import FoldReport, Store

if TYPE_CHECKING:
    import duckdb

ENDING = ".duckdb.gz"
_STAMP = "%Y%m%dT%H%M%SZ"
_GZIP = b"\x1f\x8b"


@dataclass(frozen=True)
class Backup:
    """A verified backup, and the older ones that went because of it."""

    file: Path
    counts: dict[str, int]
    size: int
    removed: tuple[Path, ...] = ()


@dataclass(frozen=True)
class Restored:
    """What is in the store now, where the one before it is, and what came out of the spool."""

    counts: dict[str, int]
    kept: Path | None
    folded: FoldReport


def backup(
    path: Path, folder: Path, keep: int | None = None, older_than: timedelta | None = None, now: datetime | None = None
) -> Backup:
    """Back the store up. Old backups go only after the new one was read back and found whole."""
    moment = now or datetime.now(UTC)
    with _sentences(folder):
        folder.mkdir(parents=True, exist_ok=True)
        family = _family(path)
        file = _free_name(folder, family, moment)
        copy, packed = (folder / f".{file.name}{ending}{PARTIAL}" for ending in (".copy", ""))
        try:
            counts = _copy(path, copy)
            _compress(copy, packed)
            if _unpacked(packed, copy) != counts:
                raise JobError(f"The backup in {folder} is not what the store holds; free some space and try again.")
            packed.replace(file)
            sync(folder)
        finally:
            for partial in (copy, packed):
                partial.unlink(missing_ok=True)
        removed = tuple(_outlived(folder, family, file, keep, older_than, moment))
        for old in removed:
            old.unlink()
    return Backup(file, counts, file.stat().st_size, removed)


def restore(path: Path, backup_file: Path, force: bool = False) -> Restored:
    """Put a backup in the store's place; the store that is there stays beside it.

    What waits in the spool belongs to nobody's backup: with `force` it is folded into the restored store."""
    store = Store(path)
    waiting = sorted(store.spool.glob("*.ndjson")) if store.spool.is_dir() else []
    if waiting and not force:
        raise InputError(
            f"{len(waiting)} file(s) wait in {store.spool}; fold them with `dyno show`, or give --force to have them "
            "folded into the restored store."
        )
    partial = path.with_name(f"{path.name}.restored{PARTIAL}")
    with _sentences(path.parent):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            counts = _unpacked(backup_file, partial)
            with locked(path, write=True):
                kept = _keep(path) if path.exists() else None
                partial.replace(path)
        finally:
            partial.unlink(missing_ok=True)
    return Restored(counts, kept, store.fold())


def counts_of(connection: duckdb.DuckDBPyConnection) -> dict[str, int]:
    """How many rows each table has."""
    counts = {}
    for table in tables(connection):
        row = connection.execute(f"SELECT count(*) FROM {table}").fetchone()
        counts[table.removeprefix('"main".').strip('"')] = int(row[0]) if row else 0
    return counts


@contextmanager
def _sentences(place: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise JobError(f"Cannot write in {place}: {error.strerror}; free some space, or choose another.") from None


def _family(path: Path) -> str:
    """What the names of this store's backups begin with; stores of one name in two folders keep apart."""
    place = hashlib.sha256(os.fsencode(path.resolve())).hexdigest()[:6]
    return f"{path.stem}-{place}"


def _free_name(folder: Path, stem: str, moment: datetime, ending: str = ENDING) -> Path:
    """A dated name; of two within a second the second one is dated later."""
    while (file := folder / f"{stem}-{moment.strftime(_STAMP)}{ending}").exists():
        moment += timedelta(seconds=1)
    return file


def _copy(path: Path, copy: Path) -> dict[str, int]:
    """The file as it is between two writers, all of it in the file itself."""
    with connect(path, write=True) as connection:
        connection.execute("CHECKPOINT")
        counts = counts_of(connection)
        shutil.copyfile(path, copy)
    return counts


def _compress(copy: Path, packed: Path) -> None:
    with copy.open("rb") as source, packed.open("wb") as target:
        with gzip.GzipFile(filename="", fileobj=target, mode="wb", compresslevel=6) as squeezed:
            shutil.copyfileobj(source, squeezed, 1 << 20)
        target.flush()
        os.fsync(target.fileno())


def _unpacked(backup_file: Path, target: Path) -> dict[str, int]:
    """Unpack and open a backup, or a plain copy of a store; returns how much is in its tables."""
    if not backup_file.is_file():
        raise InputError(f"There is no backup {backup_file}; check the path.")
    with backup_file.open("rb") as file:
        opened = gzip.open if file.read(2) == _GZIP else open
    try:
        with opened(backup_file, "rb") as source, target.open("wb") as plain:
            shutil.copyfileobj(source, plain, 1 << 20)
            plain.flush()
            os.fsync(plain.fileno())
    except (gzip.BadGzipFile, EOFError, zlib.error) as error:
        raise JobError(f"{backup_file} is damaged ({error}); choose another backup.") from None
    return _looked_at(target, backup_file)


def _looked_at(database: Path, name: Path) -> dict[str, int]:
    import duckdb

    try:
        with duckdb.connect(database, read_only=True) as connection:
            is_outdated(connection, name)  # refuses what is no store, or a newer one
            return counts_of(connection)
    except duckdb.Error as error:
        reason = str(error).splitlines()[0]
        raise JobError(f"{name} is no sound store ({reason}); choose another backup.") from None


def _keep(path: Path) -> Path:
    """The present store under another name, with what DuckDB has not written into the file yet; its own name stays."""
    kept = _free_name(path.parent, f"{path.stem}-before-restore", datetime.now(UTC), ".duckdb")
    os.link(path, kept)
    with contextlib.suppress(FileNotFoundError):
        path.with_name(path.name + ".wal").replace(kept.with_name(kept.name + ".wal"))
    return kept


def _outlived(
    folder: Path, family: str, new: Path, keep: int | None, older_than: timedelta | None, now: datetime
) -> Iterator[Path]:
    """Backups of this store that may go: too many, or too old; with both limits too old, but for the newest few."""
    dated = sorted(_dated(folder, family), reverse=True)
    for place, (moment, file) in enumerate(dated):
        surplus = keep is not None and place >= keep
        old = older_than is not None and moment < now - older_than
        limits = [limit for limit, given in ((surplus, keep), (old, older_than)) if given is not None]
        if file != new and limits and all(limits):
            yield file


def _dated(folder: Path, family: str) -> Iterator[tuple[datetime, Path]]:
    shape = re.compile(rf"{re.escape(family)}-(\d{{8}}T\d{{6}}Z){re.escape(ENDING)}")
    for file in folder.iterdir():
        if match := shape.fullmatch(file.name):
            with contextlib.suppress(ValueError):
                yield datetime.strptime(match[1], _STAMP).replace(tzinfo=UTC), file
