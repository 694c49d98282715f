"""SQL of a user's own against the store: it may read the store's tables and nothing else.

DuckDB itself holds the locks. The question runs in a database in memory to which the store is attached read-only; then
every file system and extension is shut off and the settings are locked. So a question can neither write nor look at
files, environment or network, whatever it is made of."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, JobError
from modeldyno.store.database import connect

if TYPE_CHECKING:
    import duckdb

TIMEOUT_S = 60.0
MEMORY = "2GB"
READING = ("SELECT", "EXPLAIN")
"""The types of statements that only read; DESCRIBE, SHOW and SUMMARIZE are SELECTs to DuckDB."""
_AT_ONCE = 1000
_LOCKS = (
    f"SET memory_limit = '{MEMORY}'",
    "SET temp_directory = ''",
    "SET enable_external_access = false",
    "SET disabled_filesystems = 'LocalFileSystem'",
    "SET lock_configuration = true",
)
_HINTS = ("Candidate", "Did you mean")


@dataclass(frozen=True)
class Answer:
    """The names of the columns, and the rows as they come."""

    columns: tuple[str, ...]
    rows: Iterator[tuple[Any, ...]]


@contextmanager
def ask(path: Path, sql: str, timeout_s: float = TIMEOUT_S) -> Iterator[Answer]:
    """The answer to one reading statement; the time limit is for all of the block, so for fetching as well."""
    import duckdb

    with connect(path, write=False):  # migrates an older store, and keeps writers away
        locked = _locked(path)
        timer = threading.Timer(timeout_s, locked.interrupt)
        timer.daemon = True
        try:
            statement = _single_reading(locked, sql)
            timer.start()
            yield _answer(locked, statement)
        except duckdb.Error as error:
            raise _sentence(error, timeout_s) from None
        finally:
            timer.cancel()
            locked.close()


def quoted(text: str | Path) -> str:
    """A text or a path as a literal of SQL, for statements that take no parameters."""
    return "'" + str(text).replace("'", "''") + "'"


def quoted_name(name: str) -> str:
    """A name as an identifier of SQL."""
    return '"' + name.replace('"', '""') + '"'


def _locked(path: Path) -> duckdb.DuckDBPyConnection:
    import duckdb

    connection = duckdb.connect(":memory:", config={"python_enable_replacements": False})
    connection.execute(f"ATTACH {quoted(path)} AS store (READ_ONLY)")
    connection.execute("USE store")
    for lock in _LOCKS:
        connection.execute(lock)
    return connection


def _single_reading(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = connection.extract_statements(sql)
    if len(statements) != 1:
        found = f"{len(statements)} statements" if statements else "none"
        raise InputError(f"One statement can be asked at a time, but this is {found}; write one SELECT.")
    kind = _type(statements[0])
    if kind == "MULTI":
        raise InputError("A PIVOT must name its columns here; write for example: ON status IN ('ok', 'failed').")
    if kind not in READING:
        raise InputError(f"Only reading is allowed, and this is a statement of type {kind}; write a SELECT.")
    return statements[0]


def _type(statement: duckdb.Statement) -> str:
    try:
        return str(statement.type).rsplit(".", 1)[-1]
    except ValueError:  # a type that DuckDB's Python has no name for
        return "unknown"


def _answer(connection: duckdb.DuckDBPyConnection, statement: duckdb.Statement) -> Answer:
    cursor = connection.execute(statement)
    names = _unlike([name for name, *_ in cursor.description])
    zoned = [str(kind) == "TIMESTAMP WITH TIME ZONE" for _, kind, *_ in cursor.description]
    if any(zoned):  # DuckDB's Python cannot give these without another package: take them as text
        columns = [quoted_name(name) for name in names]
        chosen = ", ".join(f"{name}::VARCHAR" if zone else name for name, zone in zip(columns, zoned, strict=True))
        cursor = connection.execute(
            f"SELECT {chosen} FROM query({quoted(statement.query)}) AS answer({', '.join(columns)})"
        )
    return Answer(names, _rows(cursor))


def _unlike(names: list[str]) -> tuple[str, ...]:
    """Of columns with one name the later ones get a number, so that none hides another."""
    seen: dict[str, None] = {}
    for name in names:
        number, unlike = 1, name
        while unlike.lower() in seen:
            number += 1
            unlike = f"{name}_{number}"
        seen[unlike.lower()] = None
        names[len(seen) - 1] = unlike
    return tuple(names)


def _rows(cursor: duckdb.DuckDBPyConnection) -> Iterator[tuple[Any, ...]]:
    while rows := cursor.fetchmany(_AT_ONCE):
        yield from rows


def _sentence(error: duckdb.Error, timeout_s: float) -> InputError | JobError:
    """What DuckDB says, in its first line and its hint, and what to do."""
    import duckdb

    first, *others = str(error).splitlines() or [""]
    if isinstance(error, duckdb.InterruptException):
        return JobError(f"The question took longer than {timeout_s:g} s; narrow it, or give a larger --timeout.")
    if isinstance(error, duckdb.OutOfMemoryException):
        return JobError(f"The question needs more memory than {MEMORY}; narrow it, or ask for fewer columns.")
    if isinstance(error, duckdb.PermissionException):
        return InputError("Only the store can be read, no file and no network; bring files in with: dyno db import")
    if "read-only mode" in first:
        return InputError("Only reading is allowed, and this would change the store; write a SELECT.")
    hint = next((line.strip() for line in others if line.startswith(_HINTS)), "see docs/schema.md for what there is.")
    return InputError(f"{first.rstrip('.!')}; {hint}")
