"""Records to table rows and back: the one place that knows both shapes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from modeldyno.core.types import Frozen, Record, Run

if TYPE_CHECKING:
    import duckdb

_CASE_JSON = ("shape", "options")
_DOCUMENTS = ("device", "model", "placement", "passport")
_SERIES = ("warmup_ms", "host_ms", "device_ms", "device_cold_ms", "cpu_ms", "wait_ms")


def insert(connection: duckdb.DuckDBPyConnection, item: Run | Record) -> tuple[str | None, bool]:
    """Insert in one transaction: what went wrong, and whether it is new."""
    import duckdb

    connection.execute("BEGIN")
    try:
        added = _insert_run(connection, item) if isinstance(item, Run) else _insert_record(connection, item)
        connection.execute("COMMIT")
    except (duckdb.Error, LookupError) as error:
        connection.execute("ROLLBACK")
        kind, name = ("run", item.run_id) if isinstance(item, Run) else ("record", item.record_id)
        return f"{kind} {name}: {str(error).splitlines()[0]}", False
    return None, added


def _insert_run(connection: duckdb.DuckDBPyConnection, run: Run) -> bool:
    """Insert the run and its host; False when it was there already."""
    if _known(connection, "runs", "run_id", run.run_id):
        return False
    _insert(connection, "hosts", run.host.model_dump())
    _insert(
        connection,
        "runs",
        {
            "run_id": run.run_id,
            "host_id": run.host.host_id,
            "host": run.host.model_dump_json(),
            "started_at": _utc(run.started_at),
            "name": run.name,
            "command": run.command,
            "version": run.version,
            "git_commit": run.commit,
            "effort": run.effort,
            "settings": json.dumps(run.settings),
            "plan_digest": run.plan_digest,
            "plan": json.dumps([case.model_dump(mode="json") for case in run.plan]),
        },
    )
    return True


def _insert_record(connection: duckdb.DuckDBPyConnection, record: Record) -> bool:
    """Insert the record with all that hangs on it; False when it was there already."""
    if _known(connection, "records", "record_id", record.record_id):
        return False
    if not _known(connection, "runs", "run_id", record.run_id):
        raise LookupError(f"belongs to run {record.run_id}, which is not there")
    case = record.case.model_dump(mode="json", exclude={"index"})
    case |= {"case_key": record.case.key} | {name: json.dumps(case[name]) for name in _CASE_JSON}
    _insert(connection, "cases", case)
    if record.device:
        columns = {"platform", "name", "memory_mb", "capability", "emulated"}
        device = record.device.model_dump(include=columns)
        _insert(connection, "devices", {"fingerprint": record.device.fingerprint, **device})
    if record.model:
        _insert(connection, "models", record.model.model_dump(exclude={"gflop"}))
    _insert(connection, "records", _record_row(record), new=True)
    for name, metric in record.metrics.items():
        _insert(connection, "metrics", {"record_id": record.record_id, "name": name, **metric.model_dump()}, new=True)
    for samples in record.samples:
        _insert(connection, "samples", {"record_id": record.record_id, **samples.model_dump()}, new=True)
    return True


def _known(connection: duckdb.DuckDBPyConnection, table: str, key: str, value: str) -> bool:
    return connection.execute(f"SELECT 1 FROM {table} WHERE {key} = ?", [value]).fetchone() is not None


def _record_row(record: Record) -> dict[str, Any]:
    plain = ("record_id", "run_id", "status", "reason", "remedy", "provenance", "duration_s", "log")
    return {
        **{name: getattr(record, name) for name in plain},
        **{name: _json(getattr(record, name)) for name in _DOCUMENTS},
        "output_check": _json(record.check),
        "case_key": record.case.key,
        "device_index": record.case.index,
        "device_fingerprint": record.device.fingerprint if record.device else None,
        "model_fingerprint": record.model.fingerprint if record.model else None,
        "started_at": _utc(record.started_at),
        "verdict": record.passport.verdict if record.passport else None,
        "profile": json.dumps([row.model_dump() for row in record.profile]),
        "software": json.dumps(record.software),
    }


def _insert(connection: duckdb.DuckDBPyConnection, table: str, row: dict[str, Any], new: bool = False) -> None:
    """Rows that many records share may be there already; what belongs to one record must be new."""
    columns, marks = ", ".join(row), ", ".join("?" * len(row))
    known = "" if new else " ON CONFLICT DO NOTHING"
    connection.execute(f"INSERT INTO {table} ({columns}) VALUES ({marks}){known}", list(row.values()))


def _json(value: Frozen | None) -> str | None:
    return value.model_dump_json() if value else None


def _utc(moment: datetime) -> datetime:
    return moment.astimezone(UTC).replace(tzinfo=None)


RECORD_SELECT = """
    SELECT r.*, c.workload, c.model AS case_model, c.platform, c.runtime, c.precision, c.batch,
           c.shape, c.weights, c.options
    FROM records r JOIN cases c USING (case_key)
"""


def read_records(connection: duckdb.DuckDBPyConnection, where: str, values: Sequence[Any]) -> list[Record]:
    """Whole records, oldest first, for a condition over `r` (records) and `c` (cases)."""
    rows = _dicts(connection, f"{RECORD_SELECT} WHERE {where} ORDER BY r.record_id", values)
    chosen = [row["record_id"] for row in rows]
    metrics = _by_record(connection, "metrics", chosen)
    samples = _by_record(connection, "samples", chosen)
    return [_record(row, metrics.get(row["record_id"], []), samples.get(row["record_id"], [])) for row in rows]


def _record(row: dict[str, Any], metrics: list[dict[str, Any]], samples: list[dict[str, Any]]) -> Record:
    case_columns = ("workload", "platform", "runtime", "precision", "batch", "weights")
    case = {name: row[name] for name in case_columns}
    case |= {name: json.loads(row[name]) for name in _CASE_JSON}
    case |= {"model": row["case_model"], "index": row["device_index"]}
    plain = ("record_id", "run_id", "status", "reason", "remedy", "provenance", "duration_s", "log")
    return Record.model_validate(
        {name: row[name] for name in plain}
        | {name: json.loads(row[name]) if row[name] else None for name in _DOCUMENTS}
        | {
            "case": case,
            "started_at": row["started_at"].replace(tzinfo=UTC),
            "check": json.loads(row["output_check"]) if row["output_check"] else None,
            "profile": json.loads(row["profile"]),
            "software": json.loads(row["software"]),
            "metrics": {metric.pop("name"): metric for metric in metrics},
            "samples": sorted(samples, key=lambda row: row["process"]),
        }
    )


def _by_record(connection: duckdb.DuckDBPyConnection, table: str, chosen: list[str]) -> dict[str, list[dict[str, Any]]]:
    grouped: dict[str, list[dict[str, Any]]] = {}
    for row in _dicts(connection, f"SELECT * FROM {table} WHERE record_id = ANY(?)", [chosen]):
        grouped.setdefault(row.pop("record_id"), []).append(row)
    return grouped


def read_runs(connection: duckdb.DuckDBPyConnection, where: str, values: Sequence[Any]) -> list[Run]:
    """Runs, newest first."""
    sql = f"SELECT * FROM runs WHERE {where} ORDER BY run_id DESC"
    plain = ("run_id", "name", "command", "version", "effort")
    return [
        Run.model_validate(
            {name: row[name] for name in plain}
            | {
                "host": json.loads(row["host"]),
                "started_at": row["started_at"].replace(tzinfo=UTC),
                "commit": row["git_commit"],
                "settings": json.loads(row["settings"]),
                "plan": json.loads(row["plan"]),
            }
        )
        for row in _dicts(connection, sql, values)
    ]


def _dicts(connection: duckdb.DuckDBPyConnection, sql: str, values: Sequence[Any]) -> list[dict[str, Any]]:
    cursor = connection.execute(sql, list(values))
    names = [column[0] for column in cursor.description]
    return [dict(zip(names, row, strict=True)) for row in cursor.fetchall()]
