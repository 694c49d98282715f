"""Whether the store is sound: it opens, every row can be read, and what it says does not contradict itself."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import DynoError
from modeldyno.core.metrics import METRICS
from modeldyno.store.ask import quoted_name
from modeldyno.store.database import connect
from modeldyno.store.durable import PARTIAL
from modeldyno.store.rewrite import tables
from modeldyno.store.store import Store

if TYPE_CHECKING:
    import duckdb

STALE_S = 3600.0
"""A file that nobody has written to for so long is not being written any more."""
SLACK = 0.25
"""How far latency and throughput of one record may disagree."""
MAY_BE_NEGATIVE = ("launch_gap_ms",)


@dataclass(frozen=True)
class Finding:
    """One thing that was looked at; `wrong` makes the check fail, otherwise it is only worth knowing."""

    check: str
    wrong: bool
    text: str
    remedy: str = ""


def check(store: Store, repair: bool = False) -> list[Finding]:
    """All that is wrong or worth knowing; nothing when all is well. `repair` removes stale partial files."""
    return [*_database(store.existing()), *_spool(store), *_partials(store, repair)]


def _database(path: Path) -> Iterator[Finding]:
    import duckdb

    try:
        with connect(path, write=False) as connection:
            yield from _scan(connection)
            for name, (sql, text, remedy, wrong) in _QUESTIONS.items():
                found = connection.execute(sql).fetchall()
                if found:
                    shown = ", ".join(str(row[0]) for row in found[:3]) + (", ..." if len(found) > 3 else "")
                    yield Finding(name, wrong, f"{len(found)} {text}: {shown}", remedy)
            yield from _orphans(connection)
    except (DynoError, duckdb.Error) as error:
        reason = str(error).splitlines()[0]
        yield Finding("database", True, f"the database cannot be read: {reason}", "restore a backup: dyno db restore")


def _scan(connection: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """Read every value of every table, and see that each metric has its column."""
    for table in tables(connection):
        connection.execute(f"SELECT bit_xor(hash(row_of_it)) FROM {table} AS row_of_it").fetchall()
    columns = {column[0] for column in connection.execute("SELECT * FROM records LIMIT 0").description}
    if missing := [name for name in METRICS if name not in columns]:
        yield Finding("metrics", True, f"records has no column for {', '.join(missing)}", "run: dyno db migrate")


def _orphans(connection: duckdb.DuckDBPyConnection) -> Iterator[Finding]:
    """The database guards its keys itself; this looks whether it did."""
    keys = connection.execute(
        """SELECT table_name, constraint_column_names[1], referenced_table, referenced_column_names[1]
           FROM duckdb_constraints() WHERE constraint_type = 'FOREIGN KEY' AND database_name = current_database()
           ORDER BY ALL"""
    ).fetchall()
    for table, column, parent, key in keys:
        child, owner = quoted_name(table), quoted_name(parent)
        column, key = quoted_name(column), quoted_name(key)
        row = connection.execute(
            f"""SELECT count(*) FROM {child} WHERE {column} IS NOT NULL
                AND NOT EXISTS (SELECT 1 FROM {owner} WHERE {owner}.{key} = {child}.{column})"""
        ).fetchone()
        if row and row[0]:
            yield Finding("orphans", True, f"{row[0]} rows of {table} belong to no row of {parent}", _RESTORE)


_RESTORE = "restore a backup: dyno db restore"
_LOOK = "look at them with dyno db sql, and measure again"
_SEEN = "SELECT record_id || ' ' || name FROM metrics"
_QUESTIONS = {
    "artifacts": (
        """SELECT owner_id FROM artifacts ANTI JOIN
            (SELECT record_id AS owner_id FROM records UNION ALL SELECT test_id FROM tests) USING (owner_id)""",
        "logs or profiles belong to nothing",
        _RESTORE,
        True,
    ),
    "negative": (
        f"{_SEEN} WHERE (value < 0 OR isnan(value)) AND name NOT IN ({', '.join(map(repr, MAY_BE_NEGATIVE))}, '')",
        "metrics are negative or no number",
        _LOOK,
        True,
    ),
    "intervals": (
        f"{_SEEN} WHERE low > high OR value < low - 1e-9 * abs(low) OR value > high + 1e-9 * abs(high)",
        "metrics lie outside of their own interval",
        _LOOK,
        True,
    ),
    "rates": (
        f"""SELECT record_id FROM records JOIN cases USING (case_key),
                LATERAL (SELECT coalesce(latency_ms.value, latency_mean_ms.value) AS step_ms)
            WHERE provenance = 'measured' AND step_ms > 0
                AND abs(throughput_per_s.value - batch * 1000 / step_ms) > {SLACK} * batch * 1000 / step_ms""",
        "records have a throughput that contradicts their latency and batch",
        _LOOK,
        True,
    ),
    "records": (
        "SELECT record_id FROM records GROUP BY record_id HAVING count(*) > 1",
        "records are there twice",
        _RESTORE,
        True,
    ),
    "duplicates": (
        """SELECT min(record_id) FROM records
           WHERE latency_ms.value IS NOT NULL OR throughput_per_s.value IS NOT NULL
           GROUP BY run_id, case_key, device_index, started_at, latency_ms, throughput_per_s HAVING count(*) > 1""",
        "records stand there more than once with the same moment and numbers",
        "an imported file had them twice",
        False,
    ),
}
"""By name: the rows that should not be, what they are, what to do, and whether it is wrong or only worth knowing."""


def _spool(store: Store) -> Iterator[Finding]:
    if waiting := sorted(store.spool.glob("*.ndjson")):
        yield Finding(
            "spool", False, f"{len(waiting)} files wait in {store.spool}", "any command that reads folds them"
        )
    for file in sorted(store.spool.glob("*.torn")):
        yield Finding("torn", True, f"{file} keeps lines that could not be read", "look at them, then remove the file")


def _partials(store: Store, repair: bool) -> Iterator[Finding]:
    """What an interrupted command left half written, in the spool and beside the store."""
    beside = store.path.parent.glob(f"*{PARTIAL}")
    for file in sorted([*store.spool.glob(f"*{PARTIAL}"), *beside]):
        if time.time() - file.stat().st_mtime < STALE_S:
            yield Finding("partial", False, f"{file} is being written", "wait for the command that writes it")
        elif repair:
            shutil.rmtree(file) if file.is_dir() else file.unlink()
            yield Finding("partial", False, f"{file} was left half written", "it was removed")
        else:
            yield Finding("partial", True, f"{file} was left half written", "remove it with: dyno db check --repair")
