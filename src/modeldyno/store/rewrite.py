"""The database written anew into one compact file, whole or without what is to go.

Deleting in place is no way to get rid of rows: DuckDB refuses to delete a row and what refers to it in one transaction,
and it gives no room back. A new file that takes the old one's name is compact; an interruption leaves the old one."""

from __future__ import annotations

from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import JobError
from modeldyno.store.ask import quoted, quoted_name
from modeldyno.store.durable import PARTIAL, sync

if TYPE_CHECKING:
    import duckdb


def rewrite(connection: duckdb.DuckDBPyConnection, path: Path, keep: Mapping[str, str] | None = None) -> None:
    """Put a new file in the place of the one that `connection` has open for writing; use the connection no more.

    `keep` has a condition for tables of which not all is kept. The new file is read back and held against the old one
    before it takes its place."""
    import duckdb

    fresh = path.with_name(f"{path.name}.rewritten{PARTIAL}")
    try:
        _forget(fresh)
        connection.execute("CHECKPOINT")
        _fill(connection, fresh, keep or {})
        sync(fresh)
        fresh.replace(path)
        sync(path.parent)
    except (OSError, duckdb.Error) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise JobError(f"Cannot write {path} anew: {reason}; it is as it was, free some space.") from None
    finally:
        _forget(fresh)


def tables(connection: duckdb.DuckDBPyConnection) -> list[str]:
    """The tables of the database by qualified name, those that are referred to first."""
    sql = """SELECT t.schema_name, t.table_name, list(c.referenced_table) FILTER (c.referenced_table <> t.table_name)
             FROM duckdb_tables() AS t
             LEFT JOIN duckdb_constraints() AS c ON c.table_oid = t.table_oid AND c.database_oid = t.database_oid
                AND c.constraint_type = 'FOREIGN KEY'
             WHERE t.database_name = current_database() AND NOT t.internal GROUP BY ALL ORDER BY ALL"""
    needs = {
        (schema, table): {(schema, other) for other in others or ()}
        for schema, table, others in connection.execute(sql).fetchall()
    }
    return [f"{quoted_name(schema)}.{quoted_name(table)}" for schema, table in TopologicalSorter(needs).static_order()]


def _fill(connection: duckdb.DuckDBPyConnection, fresh: Path, keep: Mapping[str, str]) -> None:
    row = connection.execute("SELECT current_database()").fetchone()
    old = str(row[0]) if row else ""
    new = quoted_name(f"{old}_rewritten")
    connection.execute(f"ATTACH {quoted(fresh)} AS {new}")
    connection.execute(f"COPY FROM DATABASE {quoted_name(old)} TO {new} (SCHEMA)")
    names = tables(connection)
    conditions = {name: keep.get(name.replace('"', ""), "true") for name in names}
    connection.execute("BEGIN")
    for name in names:
        connection.execute(f"INSERT INTO {new}.{name} SELECT * FROM {name} WHERE {conditions[name]}")
    connection.execute("COMMIT")
    connection.execute(f"CHECKPOINT {new}")
    connection.execute(f"DETACH {new}")
    connection.execute(f"ATTACH {quoted(fresh)} AS {new} (READ_ONLY)")
    for name in names:
        if _digest(connection, name, conditions[name]) != _digest(connection, f"{new}.{name}", "true"):
            raise JobError(f"The table {name} did not come over whole; the store is as it was, run: dyno db check")
    connection.execute(f"DETACH {new}")


def _digest(connection: duckdb.DuckDBPyConnection, table: str, condition: str) -> tuple[int, int] | None:
    """How many rows, and a hash of all that is in them."""
    sql = f"SELECT count(*), bit_xor(hash(row_of_it)) FROM {table} AS row_of_it WHERE {condition}"
    return connection.execute(sql).fetchone()


def _forget(fresh: Path) -> None:
    for file in (fresh, fresh.with_name(fresh.name + ".wal")):
        file.unlink(missing_ok=True)
