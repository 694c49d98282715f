"""Many files into one store: each read in a process of its own, each all or nothing, none twice."""

from __future__ import annotations

import hashlib
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Mapping
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path

from modeldyno.core.cores import available_cores
from modeldyno.core.elsewhere import Rejection, TestResult
from modeldyno.core.errors import DynoError, InputError, JobError, UnknownName
from modeldyno.core.identity import new_id
from modeldyno.core.types import Provenance, Record
from modeldyno.importers import IMPORTERS
from modeldyno.importers._document import Document, Unreadable, load
from modeldyno.importers._evidence import is_round
from modeldyno.importers._importer import Importer
from modeldyno.importers._sheet import Sheet
from modeldyno.store.spool import Item, deposit
from modeldyno.store.store import Store

AUTO = "auto"
EMPTY = "without-results"
GIVEN = ("model", "platform", "device", "runtime", "precision", "batch")
"""What the user may say for a file."""
SHOWN = 20
FAULT = "this is a fault of the importer"
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
    times: tuple[tuple[float, str, str], ...] = ()
    """Round times with run and platform: the file is held back until it is known whether others have the same."""
    again: str | None = None
    """The id of the import, when part of this file was rejected before."""

    @property
    def is_whole(self) -> bool:
        """Whether all of it is in the store."""
        return not self.problem and not self.rejected and (self.known or self.format != EMPTY)


@dataclass(frozen=True)
class Imported:
    """What became of each file, and how much of it the store did not have before."""

    files: tuple[FileReport, ...]
    new: Counter[str] = field(default_factory=Counter)


@dataclass(frozen=True)
class Wanted:
    """How to read files."""

    format: str = AUTO
    given: Mapping[str, str] = field(default_factory=dict)
    """What the files do not say."""
    mapping: Mapping[str, str] = field(default_factory=dict)
    """Which column holds what."""
    constants: frozenset[float] | None = None
    """Round times that stand in several places; None while that is not known yet."""


def import_paths(
    store: Store,
    paths: Iterable[Path],
    wanted: Wanted | None = None,
    dry_run: bool = False,
    archive: Path | None = None,
) -> Imported:
    """Import files and all files in folders. What is broken or unknown is reported and stays where it is."""
    wanted = wanted or Wanted()
    if strange := next((key for key in wanted.given if key not in GIVEN), None):
        raise UnknownName("key of --set", strange, GIVEN)
    if wanted.format != AUTO:
        IMPORTERS.get(wanted.format)
    spool = None if dry_run else store.spool
    reports = {report.file: report for report in _sorted_out(store, _files(paths, store, archive))}
    again = {report.file: report.again for report in reports.values() if report.again}
    fresh = [report.file for report in reports.values() if not report.known and not report.problem]
    reports |= {report.file: report for report in _read_all(fresh, wanted, spool)}
    held = [report for report in reports.values() if report.times]
    if held:
        knowing = replace(wanted, constants=_constants(held))
        reports |= {report.file: report for report in _read_all([report.file for report in held], knowing, spool)}
    done = tuple(replace(report, again=again.get(report.file)) for report in reports.values())
    return Imported(done) if dry_run else Imported(done, _settle(store, done, archive))


def _settle(store: Store, reports: Iterable[FileReport], archive: Path | None) -> Counter[str]:
    """Fold what was read; returns how much of it was new."""
    folded = store.fold()
    if folded.torn:
        raise JobError(f"Not all could be imported: {folded.torn[0]}")
    for report in reports:
        if report.again and not report.problem:
            store.renew_rejections(report.again, report.rejected)
        if archive and report.is_whole:
            _move(report.file, archive)
    return folded.new


def _constants(reports: Iterable[FileReport]) -> frozenset[float]:
    """Round times that several runs or platforms share."""
    places: dict[float, set[tuple[str, str]]] = {}
    for report in reports:
        for value, run, platform in report.times:
            places.setdefault(value, set()).add((run, platform))
    return frozenset(value for value, where in places.items() if len(where) > 1)


def _files(paths: Iterable[Path], store: Store, archive: Path | None) -> Iterable[Path]:
    """All files below the paths, but for hidden ones, the store's own, and what is in the archive already."""
    seen: set[Path] = set()
    own = [store.path.resolve(), store.spool.resolve(), *([archive.resolve()] if archive else [])]
    for path in paths:
        if not path.exists():
            raise InputError(f"There is no file {path}; check the path.")
        found = sorted(p for p in path.rglob("*") if p.is_file()) if path.is_dir() else [path]
        for file in found:
            hidden = any(part.startswith(".") for part in file.relative_to(path).parts)
            inside = any(file.resolve() == place or place in file.resolve().parents for place in own)
            if not hidden and not inside and file.resolve() not in seen:
                seen.add(file.resolve())
                yield file


def _sorted_out(store: Store, files: Iterable[Path]) -> Iterable[FileReport]:
    """Which files are new; those whose content is in the store, or came before in this very import, are not.

    One that was rejected in part may be tried again: what is in the store already is not added twice."""
    imports = store.imports() if store.path.exists() else []
    known = {done.import_id for done in imports if not done.rejected}
    in_part = {done.import_id for done in imports} - known
    for file in files:
        try:
            digest = hashlib.sha256(file.read_bytes()).hexdigest()
        except OSError as error:
            yield FileReport(file, problem=f"it cannot be read: {error.strerror}")
            continue
        yield FileReport(file, known=digest in known, again=digest if digest in in_part else None)
        known.add(digest)


def _read_all(files: list[Path], wanted: Wanted, spool: Path | None) -> Iterable[FileReport]:
    read = partial(_read_one, wanted=wanted, spool=spool)
    workers = min(available_cores(), len(files))
    if workers < 2 or sum(file.stat().st_size for file in files) < SMALL:
        yield from map(read, files)
        return
    try:
        with ProcessPoolExecutor(workers) as pool:
            yield from pool.map(read, files)
    except BrokenProcessPool:
        raise JobError(
            "A process that read files was killed, likely for want of memory; what was read is kept, import the rest "
            "in smaller parts."
        ) from None


def _read_one(file: Path, wanted: Wanted, spool: Path | None) -> FileReport:
    """Read a file and leave what it yields in the spool, all of it or nothing."""
    try:
        document = load(file)
    except (Unreadable, OSError) as error:
        return FileReport(file, problem=str(error))
    importer = _importer(document, wanted.format)
    if importer is None:
        return FileReport(file, problem=_unknown(document))
    sheet = Sheet(document, importer.name, wanted.given, wanted.mapping, wanted.constants or frozenset())
    try:
        importer.read(document, sheet)
    except DynoError:
        raise
    except Exception as error:  # noqa: BLE001 - a plug-in's fault must not cost the other files
        return FileReport(file, importer.name, problem=f"{FAULT} {importer.name}: {type(error).__name__}: {error}")
    items = sheet.items
    if sheet.is_empty and importer.name != EMPTY:
        return FileReport(file, importer.name, problem="no result was found in it")
    times = _round_times(items) if getattr(importer, "reads_clocks", False) and wanted.constants is None else ()
    if spool is not None and not times:
        try:
            deposit(spool / f"{new_id()}.ndjson", items)
        except OSError as error:
            return FileReport(file, importer.name, problem=f"it could not be kept: {error.strerror}")
    return FileReport(file, importer.name, _counts(items), sheet.rejected, times=times)


def _unknown(document: Document) -> str:
    if document.table is None:
        return "it has none of the known shapes"
    columns = ", ".join(document.table.columns[:SHOWN])
    return (
        f"it is a table of no known shape with the columns {columns}; say which holds what, "
        "e.g. --format rows --map model=COLUMN --map latency_ms=COLUMN:s --set platform=cpu"
    )


def _round_times(items: Iterable[Item]) -> tuple[tuple[float, str, str], ...]:
    records = (item for item in items if isinstance(item, Record))
    times = ((record.value("latency_ms"), record.run_id, record.case.platform) for record in records)
    return tuple((float(f"{value:.12g}"), run, platform) for value, run, platform in times if value and is_round(value))


def _importer(document: Document, format_name: str) -> Importer | None:
    if format_name != AUTO:
        return IMPORTERS.get(format_name)
    special_first = sorted(IMPORTERS.all(), key=lambda importer: getattr(importer, "general", False))
    return next((importer for importer in special_first if importer.recognises(document)), None)


def _counts(items: Iterable[Item]) -> Counter[str]:
    counts: Counter[str] = Counter()
    for item in items:
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
