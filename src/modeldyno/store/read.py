"""Rows back into runs and records."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC
from typing import TYPE_CHECKING, Any

from modeldyno.core.elsewhere import Import, TestResult
from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Record, Run
from modeldyno.store.query import RELATION

if TYPE_CHECKING:
    import duckdb

_CASE = ("workload", "platform", "runtime", "precision", "batch", "weights")
_PLAIN = ("record_id", "run_id", "status", "reason", "remedy", "provenance", "evidence", "duration_s")
_DOCUMENTS = {"device": "device", "model": "model_info", "placement": "placement"}
"""Fields of a record and the columns that hold them as JSON."""


def newest_per_series(where: str, per_run: bool) -> str:
    """A condition for the newest record of each series, device slot and provenance, of each run where that is asked
    for; a device that is not known is only that of its own run."""
    run = "r.run_id" if per_run else "CASE WHEN r.device_id IS NULL THEN r.run_id END"
    return f"""r.record_id IN (
        SELECT r.record_id FROM {RELATION} WHERE {where}
        QUALIFY row_number() OVER (
            PARTITION BY r.series_id, r.device_index, r.provenance, {run}
            ORDER BY r.started_at DESC, r.record_id DESC) = 1)"""


def read_records(
    connection: duckdb.DuckDBPyConnection, where: str, values: Sequence[Any], newest: int | None = None
) -> list[Record]:
    """Whole records, oldest first; of many only the newest, where a number is given."""
    limit = f"DESC LIMIT {newest:d}" if newest is not None else ""
    rows = _dicts(
        connection,
        f"""SELECT r.*, c.* EXCLUDE (case_key, model)
            FROM {RELATION} WHERE {where} ORDER BY r.record_id {limit}""",
        values,
    )
    return _records(connection, rows)


def read_records_at(
    connection: duckdb.DuckDBPyConnection, places: Sequence[int], without: Sequence[str] = ()
) -> list[Record]:
    """Those that lie at these places of the table; metrics that none has may be left out, for each takes its time."""
    gone = f"EXCLUDE ({', '.join(without)})" if without else ""
    # Not a plain list of numbers: that one would be looked for in every row.
    chosen = f"SELECT * {gone} FROM records WHERE rowid IN (SELECT unnest([{', '.join(map(str, places))}]))"
    sql = f"SELECT r.*, c.* EXCLUDE (case_key, model) FROM ({chosen}) r JOIN cases c USING (case_key)"
    return _records(connection, _dicts(connection, sql, []))


def _records(connection: duckdb.DuckDBPyConnection, rows: list[dict[str, Any]]) -> list[Record]:
    rows.sort(key=lambda row: row["record_id"])
    chosen = [row["record_id"] for row in rows]
    artifacts = _grouped(connection, "artifacts", "owner_id", chosen)
    return [_record(row, artifacts.get(row["record_id"], [])) for row in rows]


def _record(row: dict[str, Any], artifacts: list[dict[str, Any]]) -> Record:
    case = {name: row[name] for name in _CASE} | {name: json.loads(row[name]) for name in ("shape", "options")}
    case |= {"model": row["model"], "index": row["device_index"]}
    kept = {artifact["kind"]: artifact["content"] for artifact in artifacts}
    metrics = {name: row[name] for name in METRICS if row.get(name) is not None}
    return Record.model_validate(
        {name: row[name] for name in _PLAIN}
        | {name: _loaded(row[column]) for name, column in _DOCUMENTS.items()}
        | {
            "case": case,
            "started_at": row["started_at"].replace(tzinfo=UTC),
            "check": _loaded(row["output_check"]),
            "profile": json.loads(kept.get("profile", "[]")),
            "software": json.loads(row["software"]),
            "metrics": metrics | (row["other_metrics"] or {}),
            "samples": row["samples"],
            "passport": passport_document(row["passport"]),
            "log": kept.get("log"),
        }
    )


def passport_document(row: dict[str, Any] | None) -> dict[str, Any] | None:
    """What a check holds may be a number, a word or a truth value, and stands there as JSON."""
    if row is None:
        return None
    checks = row["checks"] or ()
    return row | {"checks": [check | {name: _loaded(check[name]) for name in ("value", "limit")} for check in checks]}


def _loaded(text: str | None) -> Any:
    return None if text is None else json.loads(text)


def read_runs(connection: duckdb.DuckDBPyConnection, where: str, values: Sequence[Any]) -> list[Run]:
    """Runs, newest first."""
    plain = ("run_id", "name", "command", "version", "effort", "import_id")
    return [
        Run.model_validate(
            {name: row[name] for name in plain}
            | {name: json.loads(row[name]) for name in ("host", "settings", "plan")}
            | {"started_at": row["started_at"].replace(tzinfo=UTC), "commit": row["git_commit"]}
        )
        for row in _dicts(connection, f"SELECT * FROM runs WHERE {where} ORDER BY run_id DESC", values)
    ]


def read_tests(connection: duckdb.DuckDBPyConnection, where: str, values: Sequence[Any]) -> list[TestResult]:
    """Whole test results, oldest first."""
    rows = _dicts(connection, f"SELECT * FROM tests WHERE {where} ORDER BY test_id", values)
    chosen = [row["test_id"] for row in rows]
    assertions = _grouped(connection, "assertions", "test_id", chosen)
    logs = _grouped(connection, "artifacts", "owner_id", chosen)
    return [
        TestResult.model_validate(
            row
            | {
                "started_at": row["started_at"].replace(tzinfo=UTC),
                "assertions": assertions.get(row["test_id"], []),
                "log": next((kept["content"] for kept in logs.get(row["test_id"], [])), None),
            }
        )
        for row in rows
    ]


def read_imports(connection: duckdb.DuckDBPyConnection) -> list[Import]:
    rows = _dicts(connection, "SELECT * FROM imports ORDER BY imported_at, import_id", [])
    rejected = _grouped(connection, "rejections", "import_id", [row["import_id"] for row in rows])
    return [
        Import.model_validate(
            row
            | {
                "imported_at": row["imported_at"].replace(tzinfo=UTC),
                "rejected": rejected.get(row["import_id"], []),
            }
        )
        for row in rows
    ]


def _grouped(
    connection: duckdb.DuckDBPyConnection, table: str, key: str, chosen: list[str]
) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in _dicts(connection, f"SELECT * FROM {table} WHERE {key} = ANY(?) ORDER BY rowid", [chosen]):
        grouped.setdefault(row.pop(key), []).append(row)
    return grouped


def _dicts(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, list(values))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
