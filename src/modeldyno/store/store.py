"""The store as the rest of the house sees it: append durably, fold, ask."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.elsewhere import Import, Rejection, TestResult
from modeldyno.core.errors import InputError, JobError
from modeldyno.core.identity import new_id
from modeldyno.core.types import Record, Run
from modeldyno.store import read
from modeldyno.store.database import connect
from modeldyno.store.fold import fold_file
from modeldyno.store.query import Filter
from modeldyno.store.spool import Item, SpoolWriter, deposit, unused

if TYPE_CHECKING:
    import duckdb

DEFAULT = "dyno.duckdb"


@dataclass(frozen=True)
class FoldReport:
    """What a fold did."""

    new: Counter[str] = field(default_factory=Counter)
    """How many of each kind of line were not in the database before."""
    torn: tuple[str, ...] = ()
    """Sentences about lines that could not be taken."""

    def __add__(self, other: FoldReport) -> FoldReport:
        return FoldReport(self.new + other.new, self.torn + other.torn)


class Store:
    """One DuckDB file with its spool beside it. Building one touches nothing."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.spool = path.with_name(path.name + ".spool")

    @classmethod
    def at(cls, option: str | None) -> Store:
        """The store the user named, else `DYNO_STORE`, else the one in the working directory."""
        named = option or os.environ.get("DYNO_STORE") or DEFAULT
        if named.startswith(("http://", "https://")):
            raise InputError(f"{named} is a server, which only dyno run sends to; give the path of a store here.")
        return cls(Path(named))

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
        try:
            with unused(path) as idle:
                return not idle
        except FileNotFoundError:  # folded in this very moment
            return False

    def fold(self) -> FoldReport:
        """Move what the spool holds into the database; doing it twice changes nothing."""
        waiting = sorted(self.spool.glob("*.ndjson")) if self.spool.is_dir() else []
        if not waiting:
            return FoldReport()
        import duckdb

        report = FoldReport()
        with connect(self.path, write=True) as connection:
            for path in waiting:
                if not path.exists():  # another fold was here while this one waited for the lock
                    continue
                with unused(path) as idle:
                    try:
                        folded = fold_file(connection, path)
                    except (duckdb.Error, OSError) as error:
                        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
                        raise JobError(
                            f"The results in {path} could not be brought into the store ({reason}); they stay there, "
                            "free some space and run any command again."
                        ) from None
                    report += FoldReport(folded.new, _retire(path, folded.problems) if idle else ())
        return report

    def add(self, items: Iterable[Item]) -> FoldReport:
        """Make the items durable in the spool, all or none, then fold them."""
        try:
            deposit(self.spool / f"{new_id()}.ndjson", items)
        except OSError as error:
            raise JobError(f"Cannot write beside the store {self.path}: {error.strerror}; free some space.") from None
        report = self.fold()
        if report.torn:
            raise InputError(f"Not all could be added: {report.torn[0]}")
        return report

    def reading(self) -> AbstractContextManager[duckdb.DuckDBPyConnection]:
        """A connection to ask something; the file is open only meanwhile."""
        return connect(self.existing(), write=False)

    def records(self, chosen: Filter, newest: int | None = None) -> list[Record]:
        """Whole records with their samples, oldest first; at most the `newest` so many."""
        where, values = chosen.where()
        with self.reading() as connection:
            return read.read_records(connection, where, values, newest)

    def newest_records(self, chosen: Filter, per_run: bool = False, newest: int | None = None) -> list[Record]:
        """Likewise, but of each series and device slot only the newest; of each run, where `per_run` says so."""
        where, values = chosen.where()
        with self.reading() as connection:
            return read.read_records(connection, read.newest_per_series(where, per_run), values, newest)

    def runs(self) -> list[Run]:
        """All runs, newest first."""
        with self.reading() as connection:
            return read.read_runs(connection, "true", [])

    def tests(self) -> list[TestResult]:
        """All test results, oldest first."""
        with self.reading() as connection:
            return read.read_tests(connection, "true", [])

    def imports(self) -> list[Import]:
        """All files that were imported, in that order."""
        with self.reading() as connection:
            return read.read_imports(connection)

    def renew_rejections(self, import_id: str, rejected: Iterable[Rejection]) -> None:
        """What an import could not take, when the same file was tried once more."""
        with connect(self.existing(), write=True) as connection:
            connection.execute("DELETE FROM rejections WHERE import_id = ?", [import_id])
            for rejection in rejected:
                connection.execute(
                    "INSERT INTO rejections VALUES (?, ?, ?)", [import_id, rejection.place, rejection.reason]
                )

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

    def existing(self) -> Path:
        """The database's path, if it is there."""
        if not self.path.exists():
            raise InputError(f"There is no store at {self.path}; run something first, or give --store.")
        return self.path


def _retire(path: Path, problems: tuple[str, ...]) -> tuple[str, ...]:
    """A spool file that is folded goes; one with broken lines is kept under another name and told of."""
    if not problems:
        path.unlink()
        return ()
    kept = path.with_name(f"{path.stem}-{new_id()[-6:]}.torn")
    path.replace(kept)
    shown = "; ".join(problems[:3]) + (f"; and {len(problems) - 3} more" if len(problems) > 3 else "")
    return (f"{kept} keeps what could not be read ({shown}).",)
