"""The store as the rest of the house sees it: append durably, fold, ask."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError
from modeldyno.core.identity import new_id
from modeldyno.core.types import Record, Run, Status
from modeldyno.store import rows
from modeldyno.store.database import connect
from modeldyno.store.spool import Item, SpoolWriter, read_spool, unused

if TYPE_CHECKING:
    import duckdb

DEFAULT = "dyno.duckdb"


@dataclass(frozen=True)
class FoldReport:
    """What a fold did."""

    runs: int = 0
    records: int = 0
    torn: tuple[str, ...] = ()
    """Sentences about lines that could not be read."""


@dataclass(frozen=True)
class Filter:
    """Which records to read; an empty field means any."""

    run_id: str | None = None
    model: tuple[str, ...] = ()
    platform: tuple[str, ...] = ()
    status: tuple[Status, ...] = ()

    def where(self) -> tuple[str, list[object]]:
        parts: list[tuple[str, object]] = []
        if self.run_id:
            parts.append(("r.run_id = ?", self.run_id))
        if self.model:
            parts.append(("lower(c.model) = ANY(?)", [name.lower() for name in self.model]))
        if self.platform:
            parts.append(("c.platform = ANY(?)", list(self.platform)))
        if self.status:
            parts.append(("r.status = ANY(?)", [status.value for status in self.status]))
        return " AND ".join(part for part, _ in parts) or "true", [value for _, value in parts]


class Store:
    """One DuckDB file with its spool beside it. Building one touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spool = path.with_name(path.name + ".spool")

    @classmethod
    def at(cls, option: str | None) -> Store:
        """The store the user named, else `DYNO_STORE`, else the one in the working directory."""
        return cls(Path(option or os.environ.get("DYNO_STORE") or DEFAULT))

    def writer(self, run: Run) -> SpoolWriter:
        """Opens the spool of a run before anything is measured, so that a bad path shows at once."""
        try:
            return SpoolWriter(self.spool / f"{run.run_id}.ndjson")
        except OSError as error:
            raise InputError(
                f"Cannot write beside the store {self.path}: {error.strerror}; choose another --store."
            ) from None

    def is_running(self, run: Run) -> bool:
        """Whether some process is still writing this run."""
        path = self.spool / f"{run.run_id}.ndjson"
        if not path.exists():
            return False
        with unused(path) as idle:
            return not idle

    def fold(self) -> FoldReport:
        """Move what the spool holds into the database; doing it twice changes nothing."""
        waiting = sorted(self.spool.glob("*.ndjson")) if self.spool.is_dir() else []
        if not waiting:
            return FoldReport()
        report = FoldReport()
        with connect(self.path, write=True) as connection:
            for path in waiting:
                if not path.exists():  # another fold was here while this one waited for the lock
                    continue
                with unused(path) as idle:
                    found = read_spool(path)
                    folded = self._insert(connection, found.items)
                    problems = tuple(f"line {number}: {reason}" for number, reason in found.torn) + folded.torn
                    report = _sum(report, FoldReport(folded.runs, folded.records))
                    if idle:
                        report = _sum(report, _retire(path, problems))
        return report

    def add(self, items: Iterable[Item]) -> FoldReport:
        """Insert items that are durable elsewhere, such as an exported file."""
        with connect(self.path, write=True) as connection:
            report = self._insert(connection, items)
        if report.torn:
            raise InputError(f"Not all could be added: {report.torn[0]}.")
        return report

    def _insert(self, connection: duckdb.DuckDBPyConnection, items: Iterable[Item]) -> FoldReport:
        """Each item in a transaction of its own; what the database refuses is left out and told of."""
        runs = records = 0
        refused: list[str] = []
        for item in items:
            problem, added = rows.insert(connection, item)
            if problem:
                refused.append(problem)
            elif isinstance(item, Run):
                runs += added
            else:
                records += added
        return FoldReport(runs, records, tuple(refused))

    def records(self, chosen: Filter) -> list[Record]:
        where, values = chosen.where()
        with connect(self._existing(), write=False) as connection:
            return rows.read_records(connection, where, values)

    def runs(self) -> list[Run]:
        """All runs, newest first."""
        with connect(self._existing(), write=False) as connection:
            return rows.read_runs(connection, "true", [])

    def find_run(self, name: str) -> Run:
        """A run by `latest`, its id or the beginning of it."""
        runs = self.runs()
        if not runs:
            raise InputError(f"The store {self.path} holds no run yet; start one with: dyno run tiny-bert --on cpu")
        matches = runs[:1] if name == "latest" else [run for run in runs if run.run_id.startswith(name.lower())]
        if len(matches) != 1:
            problem = "No run begins" if not matches else f"{len(matches)} runs begin"
            latest = ", ".join(run.run_id for run in runs[:5])
            raise InputError(f"{problem} with '{name}'; the latest are: {latest}.")
        return matches[0]

    def _existing(self) -> Path:
        if not self.path.exists():
            raise InputError(f"There is no store at {self.path}; run something first, or give --store.")
        return self.path


def _sum(a: FoldReport, b: FoldReport) -> FoldReport:
    return FoldReport(a.runs + b.runs, a.records + b.records, a.torn + b.torn)


def _retire(path: Path, problems: tuple[str, ...]) -> FoldReport:
    """A spool file that is folded goes; one with broken lines is kept under another name and told of."""
    if not problems:
        path.unlink()
        return FoldReport()
    kept = path.with_name(f"{path.stem}-{new_id()[-6:]}.torn")
    path.replace(kept)
    return FoldReport(torn=(f"{kept} keeps what could not be read ({'; '.join(problems)}).",))
