"""Old results leave the store: into Parquet first, then out of the database."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import JobError
from modeldyno.store.database import connect
from modeldyno.store.export import export_from
from modeldyno.store.query import Filter, naive_utc
from modeldyno.store.rewrite import rewrite

if TYPE_CHECKING:
    import duckdb


@dataclass(frozen=True)
class Purged:
    """How many records, tests and runs went, and where they are now."""

    counts: Counter[str]
    archive: Path | None


def would_purge(path: Path, before: datetime) -> Counter[str]:
    """How many records and tests are older, and how many runs would be left with nothing."""
    with connect(path, write=False) as connection:
        return count_going(connection, _kept(before))


def purge(path: Path, before: datetime, archive: Path) -> Purged:
    """Write what is older to `archive`, then keep the rest. An interruption leaves all of it in the store."""
    kept = _kept(before)
    with connect(path, write=True) as connection:
        going = count_going(connection, kept)
        if not going.total():
            return Purged(going, None)
        archived = export_from(connection, archive, "parquet", Filter(until=before)).counts
        if any(archived[kind] < number for kind, number in going.items()):
            raise JobError(f"Not all that is old went to {archive}; nothing was removed, run: dyno db check")
        rewrite(connection, path, kept)
    return Purged(going, archive)


def _kept(before: datetime) -> dict[str, str]:
    """What stays, table by table. An import stays known, so that its file is not imported again by mistake."""
    young = f"started_at >= TIMESTAMP '{naive_utc(before).isoformat(sep=' ')}'"
    of_them = f"SELECT run_id FROM records WHERE {young} UNION ALL SELECT run_id FROM tests WHERE {young}"
    return what_stays(young, young, f"({young} OR run_id IN ({of_them}))")


def what_stays(records: str, tests: str, runs: str) -> dict[str, str]:
    """The conditions for all tables that follow from those for records, tests and runs."""
    kept_records, kept_tests = f"FROM records WHERE {records}", f"FROM tests WHERE {tests}"
    return {
        "main.records": records,
        "main.tests": tests,
        "main.assertions": f"test_id IN (SELECT test_id {kept_tests})",
        "main.artifacts": f"owner_id IN (SELECT record_id {kept_records} UNION ALL SELECT test_id {kept_tests})",
        "main.runs": runs,
        "main.hosts": f"host_id IN (SELECT host_id FROM runs WHERE {runs})",
        "main.cases": f"case_key IN (SELECT case_key {kept_records})",
        "main.devices": f"device_id IN (SELECT device_id {kept_records})",
        "main.models": f"model_id IN (SELECT model_id {kept_records})",
    }


def count_going(connection: duckdb.DuckDBPyConnection, kept: dict[str, str]) -> Counter[str]:
    going: Counter[str] = Counter()
    for kind in ("record", "test", "run"):
        row = connection.execute(f"SELECT count(*) FROM {kind}s WHERE NOT ({kept[f'main.{kind}s']})").fetchone()
        going[kind] = int(row[0]) if row else 0
    return going
