"""What the tables and views of the store are, asked of a database made for it."""

from __future__ import annotations

import re
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.metrics import METRICS
from modeldyno.store.database import connect, sql_text, version_of

if TYPE_CHECKING:
    import duckdb

_TABLES = {
    "artifacts": "Logs and profiles of records and tests.",
    "assertions": "What a test looked at.",
    "cases": "Identities of measurements; equal on every host.",
    "devices": "Hardware that was met; equal hardware is one row.",
    "hosts": "Machines that runs happened on.",
    "imports": "Files of results from elsewhere.",
    "models": "Models that were met.",
    "platforms": "Names of platforms.",
    "prediction_models": "Trained predictors.",
    "records": "Outcome of one case in one run, with a column per metric.",
    "rejections": "What an import could not take.",
    "runs": "Invocations on one host.",
    "schema_versions": "Which migrations were applied, and when.",
    "tests": "Tests that ran elsewhere: whether something works, without a measurement.",
}


@dataclass(frozen=True)
class Column:
    name: str
    type: str
    required: bool
    key: str
    """`primary key`, or the table and column it refers to; empty for any other."""
    meaning: str


@dataclass(frozen=True)
class Relation:
    """A table or a view."""

    name: str
    is_view: bool
    meaning: str
    columns: tuple[Column, ...]


def describe() -> tuple[int, list[Relation]]:
    """The version of the schema and all that is in it: `results`, the other views, the tables."""
    with tempfile.TemporaryDirectory(prefix="dyno-schema-") as folder, connect(Path(folder) / "s", True) as connection:
        views = dict(connection.execute("SELECT view_name, comment FROM duckdb_views() WHERE NOT internal").fetchall())
        columns = _columns(connection)
        relations = [
            Relation(name, name in views, views.get(name) or _TABLES[name], tuple(found))
            for name, found in sorted(columns.items(), key=lambda item: (item[0] != "results", item[0] not in views))
        ]
        return version_of(connection), relations


def _columns(connection: duckdb.DuckDBPyConnection) -> dict[str, list[Column]]:
    """By table or view, both in the order of the alphabet."""
    keys, remarks = _keys(connection), _remarks()
    rows = connection.execute(
        """SELECT table_name, column_name, data_type, is_nullable FROM duckdb_columns()
           WHERE database_name = current_database() AND NOT internal ORDER BY table_name, column_index"""
    ).fetchall()
    columns: dict[str, list[Column]] = {}
    for table, name, kind, optional in rows:
        meaning = _meaning(table, name, remarks)
        column = Column(name, _short(kind), not optional, keys.get((table, name), ""), meaning)
        columns.setdefault(table, []).append(column)
    return columns


def _short(kind: str) -> str:
    """The struct of a metric has a name."""
    return re.sub(r'STRUCT\("?value"? DOUBLE, low DOUBLE, high DOUBLE, n INTEGER, note VARCHAR\)', "metric", kind)


def _meaning(table: str, column: str, remarks: dict[tuple[str, str], str]) -> str:
    if column in METRICS and table in ("records", "results"):
        unit = METRICS[column].unit
        return METRICS[column].meaning + (f", in {unit}" if unit else "")
    return remarks.get((table, column), "")


def _keys(connection: duckdb.DuckDBPyConnection) -> dict[tuple[str, str], str]:
    rows = connection.execute(
        """SELECT table_name, unnest(constraint_column_names), constraint_type, referenced_table,
               referenced_column_names FROM duckdb_constraints()
           WHERE constraint_type IN ('PRIMARY KEY', 'FOREIGN KEY') ORDER BY constraint_type"""
    ).fetchall()
    return {
        (table, column): "primary key" if kind == "PRIMARY KEY" else f"{other}.{columns[0]}"
        for table, column, kind, other, columns in rows
    }


def _remarks() -> dict[tuple[str, str], str]:
    """The remarks behind the columns in the migrations, which the database does not keep."""
    text = "\n".join(sql_text(f"migrations/{name}") for name in _migrations())
    return {
        (table, column): remark
        for table, body in re.findall(r"^CREATE TABLE (\w+) \((.*?)^\);", text, re.MULTILINE | re.DOTALL)
        for column, remark in re.findall(r"^ {4}(\w+) .*? -- (.+)$", body, re.MULTILINE)
    }


def _migrations() -> list[str]:
    from importlib.resources import files

    folder = files("modeldyno.store") / "sql" / "migrations"
    return sorted(file.name for file in folder.iterdir() if file.name.endswith(".sql"))
