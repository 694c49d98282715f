"""Lines of a spool into the tables, set by set: DuckDB reads them itself, and `sql/fold` says what goes where."""

from __future__ import annotations

import contextlib
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.metrics import METRICS
from modeldyno.store.database import sql_text
from modeldyno.store.spool import Item, encode, kind_name, kind_of, read_spool

if TYPE_CHECKING:
    import duckdb

LINE = 1 << 20
"""Room for a line, if none is longer: DuckDB sets as much memory aside."""
METRIC = "STRUCT(value DOUBLE, low DOUBLE, high DOUBLE, n INTEGER, note VARCHAR)"
SERIES = ("warmup_ms", "host_ms", "device_ms", "device_cold_ms", "cpu_ms", "wait_ms")


@dataclass(frozen=True)
class Kind:
    """How the lines of one kind are read, and the table their keys are in."""

    table: str
    key: str
    fields: str
    beside: str = ""
    """What stands in a line beside the item, because only Python can work it out."""
    parent: tuple[str, str] | None = None
    """Table and key of what must be there before it."""


_CASE = (
    'workload VARCHAR, model VARCHAR, platform VARCHAR, "index" INTEGER, runtime VARCHAR, precision VARCHAR, '
    "batch INTEGER, shape JSON, weights VARCHAR, options JSON"
)
_SAMPLES = "process INTEGER, steps_per_sample INTEGER, stop VARCHAR, steady BOOLEAN, " + ", ".join(
    f"{name} DOUBLE[]" for name in SERIES
)
_SAMPLES += ", parts MAP(VARCHAR, DOUBLE[])"
_PASSPORT = 'verdict VARCHAR, checks STRUCT(name VARCHAR, value JSON, "limit" JSON, verdict VARCHAR, advice VARCHAR)[]'
_METRICS = ", ".join(f"{name} {METRIC}" for name in METRICS)

KINDS = {
    "import": Kind(
        table="imports",
        key="import_id",
        fields="import_id VARCHAR, file VARCHAR, format VARCHAR, size BIGINT, imported_at VARCHAR, "
        "rejected STRUCT(place VARCHAR, reason VARCHAR)[]",
    ),
    "run": Kind(
        table="runs",
        key="run_id",
        parent=("imports", "import_id"),
        beside="plan_digest VARCHAR",
        fields="run_id VARCHAR, started_at VARCHAR, host JSON, name VARCHAR, command VARCHAR, version VARCHAR, "
        '"commit" VARCHAR, plan JSON, effort VARCHAR, settings JSON, import_id VARCHAR',
    ),
    "record": Kind(
        table="records",
        key="record_id",
        parent=("runs", "run_id"),
        beside=f"case_key VARCHAR, series_id VARCHAR, device_id VARCHAR, other_metrics MAP(VARCHAR, {METRIC})",
        fields=f'record_id VARCHAR, run_id VARCHAR, "case" STRUCT({_CASE}), status VARCHAR, reason VARCHAR, '
        "remedy VARCHAR, provenance VARCHAR, evidence VARCHAR[], started_at VARCHAR, duration_s DOUBLE, device JSON, "
        f'model JSON, placement JSON, "check" JSON, passport STRUCT({_PASSPORT}), metrics STRUCT({_METRICS}), '
        f"samples STRUCT({_SAMPLES})[], profile JSON, software JSON, log VARCHAR",
    ),
    "test": Kind(
        table="tests",
        key="test_id",
        parent=("runs", "run_id"),
        fields="test_id VARCHAR, run_id VARCHAR, name VARCHAR, model VARCHAR, platform VARCHAR, status VARCHAR, "
        "reason VARCHAR, provenance VARCHAR, evidence VARCHAR[], started_at VARCHAR, duration_s DOUBLE, "
        "assertions STRUCT(name VARCHAR, passed BOOLEAN, message VARCHAR)[], log VARCHAR",
    ),
}
"""In the order they must come: what belongs to something comes after it."""


@dataclass(frozen=True)
class Folded:
    """What came new into the database from one file, and what could not be taken."""

    new: Counter[str]
    problems: tuple[str, ...] = ()


def fold_file(connection: duckdb.DuckDBPyConnection, path: Path) -> Folded:
    """All of a file in one transaction. A line that cannot be read or placed is left out and told of."""
    lines = _looked_over(path)
    if lines is not None:
        try:
            return _load(connection, path, lines)
        except _line_faults():
            pass  # some line is not what it seems: look at each
    return _fold_line_by_line(connection, path)


@dataclass(frozen=True)
class Lines:
    """What a file holds, at a glance."""

    kinds: frozenset[str]
    longest: int


def _looked_over(path: Path) -> Lines | None:
    """The kinds and sizes of the lines, or None when some line is torn or was not written by this version."""
    kinds: set[str] = set()
    longest = 0
    with path.open("rb") as file:
        for line in file:
            kind = kind_of(line) if line.endswith(b"\n") else None
            if kind is None:
                return None
            kinds.add(kind)
            longest = max(longest, len(line))
    return Lines(frozenset(kinds), longest)


def _fold_line_by_line(connection: duckdb.DuckDBPyConnection, path: Path) -> Folded:
    """Read with the full types; what the database refuses in spite of them is told of, too."""
    found = read_spool(path)
    new: Counter[str] = Counter()
    problems = [f"line {number}: {reason}" for number, reason in found.torn]
    with tempfile.TemporaryDirectory(prefix="dyno-fold-") as folder:
        sound = Path(folder) / "sound.ndjson"
        for items in _all_then_each(found.items):
            encoded = [encode(item) for item in items]
            sound.write_bytes(b"".join(encoded))
            try:
                lines = Lines(frozenset(map(kind_name, items)), max(map(len, encoded)))
                folded = _load(connection, sound, lines)
            except _line_faults() as error:
                if len(items) == 1:
                    problems.append(f"{_name(items[0])}: {str(error).splitlines()[0]}")
                continue
            new += folded.new
            problems += folded.problems
            if len(items) > 1:
                break
    return Folded(new, tuple(problems))


def _all_then_each(items: tuple[Item, ...]) -> Iterator[tuple[Item, ...]]:
    if len(items) > 1:
        yield items
    for item in items:
        yield (item,)


def _name(item: Item) -> str:
    kind = kind_name(item)
    return f"{kind} {getattr(item, KINDS[kind].key)}"


def _load(connection: duckdb.DuckDBPyConnection, path: Path, lines: Lines) -> Folded:
    import duckdb

    new: Counter[str] = Counter()
    problems: list[str] = []
    connection.execute("BEGIN")
    try:
        for name, kind in KINDS.items():
            if name in lines.kinds:
                _stage(connection, path, name, kind, lines.longest)
                problems += _drop_orphans(connection, name, kind)
                new[name] = _count(connection)
                if new[name]:
                    connection.execute(sql_text(f"fold/{name}.sql"))
                connection.execute("DROP TABLE staged")
        connection.execute("COMMIT")
    except BaseException:
        with contextlib.suppress(duckdb.Error):  # what went wrong may have ended the transaction already
            connection.execute("ROLLBACK")
        raise
    return Folded(new, tuple(problems))


def _line_faults() -> tuple[type[Exception], ...]:
    """What a line can be blamed for; a full disk or want of memory is no fault of the lines."""
    import duckdb

    return (
        duckdb.ConversionException,
        duckdb.InvalidInputException,
        duckdb.ConstraintException,
        duckdb.OutOfRangeException,
        duckdb.TypeMismatchException,
    )


def _stage(connection: duckdb.DuckDBPyConnection, path: Path, name: str, kind: Kind, longest: int) -> None:
    """The items of this kind that the database does not have yet, each once."""
    room = max(LINE, longest + 1)
    types = {"kind": "VARCHAR", "data": f"STRUCT({kind.fields})"}
    types |= dict(column.split(" ", 1) for column in _columns(kind.beside))
    connection.execute(
        f"""
        CREATE TEMP TABLE staged AS
            SELECT DISTINCT ON ({kind.key}) * FROM (
                SELECT * EXCLUDE (kind, data), unnest(data)
                FROM read_json(?, format = 'newline_delimited', maximum_object_size = {room}, columns = ?)
                WHERE kind = ?
            ) AS lines
            WHERE NOT EXISTS (SELECT 1 FROM {kind.table} AS known WHERE known.{kind.key} = lines.{kind.key})
        """,
        [str(path), types, name],
    )


def _columns(beside: str) -> list[str]:
    """`a INT, b MAP(INT, INT)` -> its columns; commas inside brackets do not part."""
    parts, depth, start = [], 0, 0
    for place, letter in enumerate(beside + ","):
        depth += (letter == "(") - (letter == ")")
        if letter == "," and depth == 0:
            parts.append(beside[start:place].strip())
            start = place + 1
    return [part for part in parts if part]


def _drop_orphans(connection: duckdb.DuckDBPyConnection, name: str, kind: Kind) -> list[str]:
    """What belongs to something that is not there cannot be kept."""
    if kind.parent is None:
        return []
    table, key = kind.parent
    lost = f"{key} IS NOT NULL AND {key} NOT IN (SELECT {key} FROM {table})"
    rows = connection.execute(f"SELECT {kind.key}, {key} FROM staged WHERE {lost} ORDER BY ALL").fetchall()
    if rows:
        connection.execute(f"DELETE FROM staged WHERE {lost}")
    owner = key.removesuffix("_id")
    return [f"{name} {row[0]}: belongs to {owner} {row[1]}, which is not there" for row in rows]


def _count(connection: duckdb.DuckDBPyConnection) -> int:
    row = connection.execute("SELECT count(*) FROM staged").fetchone()
    return int(row[0]) if row else 0
