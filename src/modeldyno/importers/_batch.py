"""Many files into one store: each read in a process of its own, each all or nothing, none twice."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from modeldyno.core.cores import available_cores
from modeldyno.core.errors import InputError
from modeldyno.core.identity import new_id
from modeldyno.core.types import Provenance, Record, Rejection, TestResult
from modeldyno.importers import IMPORTERS
from modeldyno.importers._document import Document, Unreadable, load
from modeldyno.importers._importer import Importer
from modeldyno.importers._sheet import Sheet
from modeldyno.store.spool import deposit
from modeldyno.store.store import Store

AUTO = "auto"
SMALL = 4_000_000
"""Bytes of all files below which a pool of processes costs more than it saves."""


@dataclass(frozen=True)
class FileReport:
    """What became of one file."""

    file: Path
    format: str | None = None
    counts: Counter[str] = field(default_factory=Counter)
    """Of records and tests by status, and of provenances."""
    rejected: tuple[Rejection, ...] = ()
    known: bool = False
    """Its content was imported before."""
    problem: str | None = None
    """Why nothing of it could be read."""
    spooled: Path | None = None

    @property
    def items(self) -> int:
        return self.counts["records"] + self.counts["tests"]


def import_paths(
    store: Store,
    paths: Iterable[Path],
    format_name: str = AUTO,
    given: Mapping[str, str] | None = None,
    dry_run: bool = False,
    archive: Path | None = None,
    progress: Callable[[FileReport], None] = lambda _: None,
) -> list[FileReport]:
    """Import files and all files in folders. What is broken or unknown is reported and stays where it is."""
    if format_name != AUTO:
        IMPORTERS.get(format_name)
    files = list(_files(paths))
    spool = None if dry_run else store.spool
    known = _known(store)
    reports = []
    for report in _read_all(files, format_name, dict(given or {}), spool, known):
        reports.append(report)
        progress(report)
    if not dry_run:
        store.fold()
        for report in reports:
            if archive and (report.known or (report.format and not report.rejected)):
                _move(report.file, archive)
    return reports


def _files(paths: Iterable[Path]) -> Iterable[Path]:
    seen: set[Path] = set()
    for path in paths:
        if not path.exists():
            raise InputError(f"There is no file {path}; check the path.")
        found = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in found:
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            if not hidden and file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _known(store: Store) -> frozenset[str]:
    return frozenset(done.import_id for done in store.imports()) if store.path.exists() else frozenset()


def _read_all(
    files: list[Path], format_name: str, given: dict[str, str], spool: Path | None, known: frozenset[str]
) -> Iterable[FileReport]:
    arguments = [(file, format_name, given, spool, known) for file in files]
    workers = min(available_cores(), len(files))
    if workers < 2 or sum(file.stat().st_size for file in files) < SMALL:
        yield from map(_read_one, arguments)
        return
    with ProcessPoolExecutor(workers) as pool:
        yield from pool.map(_read_one, arguments)


def _read_one(arguments: tuple[Path, str, dict[str, str], Path | None, frozenset[str]]) -> FileReport:
    """Read a file and leave what it yields in the spool, all of it or nothing."""
    file, format_name, given, spool, known = arguments
    try:
        if hashlib.sha256(file.read_bytes()).hexdigest() in known:
            return FileReport(file, known=True)
        document = load(file)
    except (Unreadable, OSError) as error:
        return FileReport(file, problem=str(error))
    importer = _importer(document, format_name)
    if importer is None:
        return FileReport(file, problem="it has none of the known shapes")
    sheet = Sheet(document, importer.name, given)
    importer.read(document, sheet)
    spooled = None
    if spool is not None:
        spooled = spool / f"{new_id()}.ndjson"
        deposit(spooled, sheet.items)
    return FileReport(file, importer.name, _counts(sheet), sheet.rejected, spooled=spooled)


def _importer(document: Document, format_name: str) -> Importer | None:
    if format_name != AUTO:
        return IMPORTERS.get(format_name)
    return next((importer for importer in IMPORTERS.all() if importer.recognises(document)), None)


def _counts(sheet: Sheet) -> Counter[str]:
    counts: Counter[str] = Counter()
    for item in sheet.items:
        if isinstance(item, Record | TestResult):
            kind = "records" if isinstance(item, Record) else "tests"
            counts[kind] += 1
            counts[f"{kind} {item.status.value}"] += 1
            counts["simulated"] += item.provenance is Provenance.SIMULATED
    return counts


def _move(file: Path, archive: Path) -> None:
    """Into the archive under its own name; one that is taken gets a number."""
    archive.mkdir(parents=True, exist_ok=True)
    target, number = archive / file.name, 1
    while target.exists():
        number += 1
        target = archive / f"{file.stem}-{number}{file.suffix}"
    shutil.move(os.fspath(file), target)
