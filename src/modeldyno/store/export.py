"""The store, or a part of it, in files: Parquet and lines that can be imported again, CSV for spreadsheets.

Parquet is made of the same lines as the spool: first one file of lines per kind, then DuckDB turns them into columns.
Each row carries its run and its import, so that every file can be read without the others."""

from __future__ import annotations

import shutil
import tempfile
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, JobError, UnknownName
from modeldyno.store.ask import quoted
from modeldyno.store.database import connect
from modeldyno.store.durable import PARTIAL, sync, sync_tree
from modeldyno.store.fold import KINDS, LINE, METRIC
from modeldyno.store.query import RELATION, Filter, naive_utc
from modeldyno.store.read import read_imports, read_records, read_runs, read_tests
from modeldyno.store.spool import Item, encode, kind_name

if TYPE_CHECKING:
    import duckdb

FORMATS = ("parquet", "csv", "json")
PARTS = "date=*/platform=*/*.parquet"
"""Where the records lie in a folder of Parquet."""
MEMORY = "512MB"
_AT_ONCE = 500
_OF_TESTS = {
    "run_id": "run_id",
    "model": "lower(model)",
    "platform": "platform",
    "provenance": "provenance",
    "status": "status",
}


@dataclass(frozen=True)
class Exported:
    """What was written where; `counts` is of imports, runs, records and tests."""

    target: Path
    counts: Counter[str]


def export(path: Path, target: Path, format_name: str, chosen: Filter) -> Exported:
    """Write what is chosen to a new file or folder; it has its name only when all of it is there."""
    with connect(path, write=False) as connection:
        return export_from(connection, target, format_name, chosen)


def export_from(connection: duckdb.DuckDBPyConnection, target: Path, format_name: str, chosen: Filter) -> Exported:
    """The same on a connection that is open already."""
    import duckdb

    if format_name not in FORMATS:
        raise UnknownName("format", format_name, FORMATS)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise InputError(f"{target} is already there; choose another name, or remove it.")
    try:
        target.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(PARTIAL, f".{target.name}-", target.parent) as folder:
            made = Path(folder) / target.name
            _choose(connection, chosen)
            counts = _WRITERS[format_name](connection, made, chosen == Filter())
            sync_tree(made)
            made.replace(target)
            sync(target.parent)
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise JobError(f"Cannot write {target}: {reason}; choose another place.") from None
    return Exported(target, counts)


def _choose(connection: duckdb.DuckDBPyConnection, chosen: Filter) -> None:
    """Temporary tables of the ids of what goes: records, tests, and runs of these or of nothing at all."""
    where, values = chosen.where()
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE chosen_records AS SELECT r.record_id, r.run_id FROM {RELATION} WHERE {where}",
        values,
    )
    where, values = _where(chosen, _OF_TESTS)
    connection.execute(
        f"CREATE OR REPLACE TEMP TABLE chosen_tests AS SELECT test_id, run_id FROM tests WHERE {where}", values
    )
    where, values = _where(chosen, {"run_id": "run_id"})
    connection.execute(
        f"""CREATE OR REPLACE TEMP TABLE chosen_runs AS
            SELECT run_id FROM chosen_records UNION SELECT run_id FROM chosen_tests
            UNION SELECT run_id FROM runs AS u WHERE {where}
                AND NOT EXISTS (SELECT 1 FROM records AS r WHERE r.run_id = u.run_id)
                AND NOT EXISTS (SELECT 1 FROM tests AS t WHERE t.run_id = u.run_id)""",
        values,
    )


def _where(chosen: Filter, columns: dict[str, str]) -> tuple[str, list[object]]:
    """A condition over a table that has only some of what a filter speaks of; of the rest it has nothing to give."""
    parts: list[str] = ["true"]
    values: list[object] = []
    for name, wanted in vars(chosen).items():
        if isinstance(wanted, datetime):
            parts.append(f"started_at {'>=' if name == 'since' else '<'} ?")
            values.append(naive_utc(wanted))
        elif wanted and name in columns:
            parts.append(f"{columns[name]} = ANY(?)")
            values.append([value.lower() if name == "model" else value for value in wanted])
        elif wanted:
            parts.append("false")
    return " AND ".join(parts), values


def _items(connection: duckdb.DuckDBPyConnection, everything: bool) -> Iterator[Item]:
    """What was chosen, in the order in which it must be folded, a few hundred at a time."""
    needed = set(_column(connection, "SELECT DISTINCT import_id FROM runs SEMI JOIN chosen_runs USING (run_id)"))
    for item in read_imports(connection):
        if everything or item.import_id in needed:
            yield item
    for ids in _ids(connection, "SELECT run_id FROM chosen_runs ORDER BY run_id"):
        yield from reversed(read_runs(connection, "run_id = ANY(?)", [ids]))
    for ids in _ids(connection, "SELECT record_id FROM chosen_records ORDER BY record_id"):
        yield from read_records(connection, "r.record_id = ANY(?)", [ids])
    for ids in _ids(connection, "SELECT test_id FROM chosen_tests ORDER BY test_id"):
        yield from read_tests(connection, "test_id = ANY(?)", [ids])


def _column(connection: duckdb.DuckDBPyConnection, sql: str) -> list[str]:
    return [row[0] for row in connection.execute(sql).fetchall()]


def _ids(connection: duckdb.DuckDBPyConnection, sql: str) -> Iterator[list[str]]:
    ids = _column(connection, sql)
    for start in range(0, len(ids), _AT_ONCE):
        yield ids[start : start + _AT_ONCE]


def _write_json(connection: duckdb.DuckDBPyConnection, file: Path, everything: bool) -> Counter[str]:
    """The spool's own lines."""
    counts: Counter[str] = Counter()
    with file.open("wb") as lines:
        for item in _items(connection, everything):
            lines.write(encode(item))
            counts[kind_name(item)] += 1
    return counts


def _write_csv(connection: duckdb.DuckDBPyConnection, file: Path, _: bool) -> Counter[str]:
    """The flat view `results`."""
    row = connection.execute(
        f"""COPY (SELECT results.* FROM results SEMI JOIN chosen_records USING (record_id) ORDER BY record_id)
            TO {quoted(file)} (FORMAT csv, HEADER)"""
    ).fetchone()
    return Counter(record=row[0] if row else 0)


def _write_parquet(connection: duckdb.DuckDBPyConnection, folder: Path, everything: bool) -> Counter[str]:
    import duckdb

    lines = folder / ".lines"
    lines.mkdir(parents=True)
    counts, longest = _write_lines(connection, lines, everything)
    with duckdb.connect(
        ":memory:", config={"memory_limit": MEMORY, "temp_directory": str(lines / "temporary")}
    ) as columns:
        _convert(columns, lines, folder, counts, longest)
        _verify(columns, folder, counts)
    shutil.rmtree(lines)
    return counts


def _write_lines(connection: duckdb.DuckDBPyConnection, lines: Path, everything: bool) -> tuple[Counter[str], int]:
    """A file per kind; returns how many there are of each, and the length of the longest line."""
    counts: Counter[str] = Counter()
    longest = 0
    with ExitStack() as opened:
        files = {kind: opened.enter_context((lines / kind).open("wb")) for kind in KINDS}
        for item in _items(connection, everything):
            line = encode(item)
            files[kind_name(item)].write(line)
            counts[kind_name(item)] += 1
            longest = max(longest, len(line))
    return counts, longest


def _convert(columns: duckdb.DuckDBPyConnection, lines: Path, folder: Path, counts: Counter[str], longest: int) -> None:
    """Lines into columns: a row is a record or a test with its run and import, or one of these that has nothing."""
    for kind in ("import", "run"):
        columns.execute(f"CREATE TABLE {kind}s AS SELECT data FROM {_lines(lines / kind, 'JSON', longest)}")
    columns.execute(
        """CREATE TABLE owners AS
            SELECT u.data ->> 'run_id' AS run_id, i.data AS import, u.data AS run
            FROM runs AS u LEFT JOIN imports AS i ON u.data ->> 'import_id' = i.data ->> 'import_id'"""
    )
    for kind in ("record", "test"):
        columns.execute(f"CREATE VIEW {kind}s AS FROM {_lines(lines / kind, f'STRUCT({KINDS[kind].fields})', longest)}")
    for name, (kind, rows, options) in _FILES.items():
        if counts[kind]:
            file = folder / name
            written = columns.execute(
                f"COPY ({rows}) TO {quoted(file)} (FORMAT parquet, COMPRESSION zstd{options})"
            ).fetchone()
            if not written or not written[0]:
                file.unlink()


def _lines(file: Path, data: str, longest: int) -> str:
    """DuckDB sets memory aside for the longest line, so it is told no more than needed."""
    types = f"{{'data': '{data}', 'other_metrics': 'MAP(VARCHAR, {METRIC})'}}"
    room = max(LINE, longest + 1)
    return f"read_json({quoted(file)}, format = 'newline_delimited', maximum_object_size = {room}, columns = {types})"


_MOMENT = "data.started_at::TIMESTAMPTZ AT TIME ZONE 'UTC'"
_OWNED = "JOIN owners ON owners.run_id = data.run_id"
_BARE = "run_id NOT IN (SELECT data.run_id FROM records UNION SELECT data.run_id FROM tests)"
_FILES = {
    "": (
        "record",
        f"""SELECT strftime({_MOMENT}, '%Y-%m-%d') AS date, data."case".platform AS platform, import, run,
                struct_insert(struct_update(data, started_at := {_MOMENT}), other_metrics := other_metrics) AS record
            FROM records {_OWNED}""",
        ", PARTITION_BY (date, platform), FILENAME_PATTERN 'part-{i}', OVERWRITE_OR_IGNORE",
    ),
    "tests.parquet": (
        "test",
        f"SELECT import, run, struct_update(data, started_at := {_MOMENT}) AS test FROM tests {_OWNED}",
        "",
    ),
    "runs.parquet": ("run", f"SELECT import, run FROM owners WHERE {_BARE}", ""),
    "imports.parquet": ("import", "SELECT data AS import, NULL::JSON AS run FROM imports", ""),
}
"""By name: of what kind, which rows, and how they are cut into files."""


def _verify(columns: duckdb.DuckDBPyConnection, folder: Path, counts: Counter[str]) -> None:
    """Read back what was written: each record and test once."""
    for kind, files in (("record", PARTS), ("test", "tests.parquet")):
        if counts[kind]:
            found = columns.execute(
                f"SELECT count(DISTINCT {kind}.{kind}_id) FROM read_parquet(?)", [str(folder / files)]
            ).fetchone()
            if not found or found[0] != counts[kind]:
                raise JobError(f"Of {counts[kind]} {kind}s not all were written to {folder}; free some space.")


_WRITERS: dict[str, Any] = {"parquet": _write_parquet, "csv": _write_csv, "json": _write_json}
