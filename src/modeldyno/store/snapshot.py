"""The store as it stood at one moment, for a server to answer from: a copy of the file, and in memory what lists need.

The file itself is open only while it is copied, so that runs and commands can write to it meanwhile."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.metrics import METRICS
from modeldyno.core.types import Provenance, Record
from modeldyno.store.ask import quoted
from modeldyno.store.copies import copy_into, new_folder
from modeldyno.store.database import connect, sql_text
from modeldyno.store.query import Filter
from modeldyno.store.read import read_records_at
from modeldyno.store.store import Store

if TYPE_CHECKING:
    import duckdb

WITH_INTERVAL = ("latency_ms", "throughput_per_s", "memory_peak_mb")
VALUES = (
    *WITH_INTERVAL,
    "latency_p90_ms",
    "latency_p95_ms",
    "latency_p99_ms",
    "device_time_ms",
    "first_ms",
    "load_ms",
    "energy_j",
    "power_w",
    "compute_rate_gflops",
    "first_token_ms",
    "tokens_per_s",
    "inter_token_ms",
    "sustained_per_s",
    "goodput_per_s",
    "loss",
    "validation_loss",
    "mfu",
    "error_rel_l2",
)
"""Metrics that lists show and sort by; all others are read from the record itself."""
FACETS = (
    "family",
    "architecture",
    "model",
    "platform",
    "device",
    "runtime",
    "precision",
    "batch",
    "workload",
    "status",
    "provenance",
    "verdict",
)
"""What results are chosen by, with all values that there are."""
_COLUMNS = {name: f"r.{name}" for name in (*FACETS[:-1], "run_id", "record_id", "series_id")}
_COLUMNS |= {"model": "r.model_folded", "device": "r.device_folded"}
ORDERS = ("started_at", "model", "device", "platform", "runtime", "precision", "batch", "workload", "status", *VALUES)
REAL = {provenance for provenance in Provenance if provenance.is_real}
RECENT = 20
"""Times the rows that are wanted: so far back they are looked for first."""
MOST_ROWS = 1000
_GOOD = "r.status = 'ok' AND r.workload = 'inference'"
Row = dict[str, Any]


@dataclass(frozen=True)
class Order:
    """By one column, then by id, so that a page has one place to go on from."""

    column: str = "started_at"
    descending: bool = True

    @classmethod
    def read(cls, text: str) -> Order:
        """`-latency_ms` is the largest first."""
        column = text.removeprefix("-")
        if column not in ORDERS:
            raise UnknownName("column to sort by", column, ORDERS)
        return cls(column, text.startswith("-"))


class _Replica(Store):
    """The store as it was when it was copied: the same questions, but nothing is opened for them."""

    def __init__(self, path: Path, connection: duckdb.DuckDBPyConnection) -> None:
        super().__init__(path)
        self._connection = connection
        counts = ", ".join(f"count({name})" for name in METRICS)
        with self.reading() as asked:
            found = asked.execute(f"SELECT {counts} FROM records").fetchone() or ()
        self._absent = [name for name, number in zip(METRICS, found, strict=True) if not number]

    def records(self, chosen: Filter, newest: int | None = None) -> list[Record]:
        return self._records("results", chosen, newest)

    def newest_records(self, chosen: Filter, per_run: bool = False, newest: int | None = None) -> list[Record]:
        if per_run:
            return super().newest_records(chosen, per_run, newest)
        return self._records("newest", chosen, newest)

    def _records(self, table: str, chosen: Filter, newest: int | None) -> list[Record]:
        """Found by what is in memory, read by where they lie: a condition on the file itself reads much more."""
        where, values = _where(chosen)
        limit = "" if newest is None else f"LIMIT {newest:d}"
        cursor = self._connection.cursor()
        try:
            sql = f"SELECT r.place FROM {table} r WHERE {where} ORDER BY r.record_id DESC {limit}"
            places = [int(row[0]) for row in cursor.execute(sql, values).fetchall()]
        finally:
            cursor.close()
        if not places:
            return []
        with self.reading() as connection:
            return read_records_at(connection, places, self._absent)

    @contextmanager
    def reading(self) -> Iterator[duckdb.DuckDBPyConnection]:
        cursor = self._connection.cursor()
        try:
            cursor.execute("USE store")
            yield cursor
        finally:
            cursor.close()


class Snapshot:
    """Never changes; several threads may ask it at once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection, store: Store, version: str, copy: Path) -> None:
        self._connection = connection
        self.copy = copy
        """The file, for questions in SQL; it is there as long as the snapshot."""
        self.store = store
        """For questions about whole records."""
        self.version = version
        self._last = int(self.rows("SELECT coalesce(max(seq), 0) AS n FROM results")[0]["n"])
        weakref.finalize(self, _let_go, connection, copy.parent)

    @classmethod
    def load(cls, store: Store, version: str) -> Snapshot:
        """A copy of the store as it is now; of one that is not there yet, an empty one."""
        import duckdb

        if not store.path.exists():
            with connect(store.path, write=True):
                pass
        folder = new_folder()
        connection = duckdb.connect(":memory:")
        try:
            copy = copy_into(folder, store)
            connection.execute(f"SET late_materialization_max_rows = {2 * MOST_ROWS}")
            connection.execute(f"ATTACH {quoted(copy)} AS store (READ_ONLY)")
            connection.execute(_filled(sql_text("snapshot.sql")))
            connection.execute("SET threads = 1")  # many ask at once: each with one thread is faster than each with all
            return cls(connection, _Replica(store.path, connection), version, copy)
        except BaseException:
            _let_go(connection, folder)
            raise

    def rows(self, sql: str, values: Sequence[Any] = ()) -> list[Row]:
        cursor = self._connection.cursor()
        try:
            found = cursor.execute(sql, list(values))
            names = [column[0] for column in found.description or ()]
            return [dict(zip(names, row, strict=True)) for row in found.fetchall()]
        finally:
            cursor.close()

    def results(
        self,
        chosen: Filter,
        order: Order,
        limit: int,
        after: str | None = None,
        newest: bool = False,
        device_id: str | None = None,
    ) -> list[Row]:
        """At most `limit`, from behind the record with the id `after`; what has no value comes last."""
        where, values = _where(chosen, device_id)
        column, word = ("seq" if order.column == "started_at" else order.column), "DESC" if order.descending else "ASC"
        if after is not None:
            further, more = self._behind(column, order.descending, after)
            where, values = f"{where} AND {further}", [*values, *more]
        table = "newest" if newest else "results"
        sql = f"""SELECT r.rowid AS id FROM {table} r WHERE {where}{{recent}}
            ORDER BY r.{column} {word} NULLS LAST, r.seq {word} LIMIT {int(limit)}"""
        places: list[Row] = []
        if column == "seq" and order.descending and after is None:
            # The newest are at the end, where few rows need to be looked at; what was filtered may reach farther back.
            recent = f" AND r.seq > {self._last - RECENT * int(limit)}"
            places = self.rows(sql.format(recent=recent), values)
        if len(places) < limit:
            places = self.rows(sql.format(recent=""), values)
        return self._at(table, [row["id"] for row in places])

    def fastest(self, chosen: Filter, limit: int) -> list[Row]:
        """Of the newest results of inference that went well, those with the least time per item."""
        where, values = _where(chosen)
        places = self.rows(
            f"""SELECT r.rowid AS id FROM newest r WHERE {where} AND {_GOOD} AND r.latency_ms > 0
                ORDER BY r.latency_ms / r.batch, r.seq LIMIT {int(limit)}""",
            values,
        )
        return self._at("newest", [row["id"] for row in places])

    def holds(self, series_id: str, record_id: str) -> bool:
        """Whether the record is one of that series."""
        return self.count(Filter(series_id=(series_id,), record_id=(record_id,))) > 0

    def latencies(self, series_ids: Sequence[str], until: int, limit: int) -> list[Row]:
        """Of each series the last real latencies that went well, up to a place in time; the oldest first."""
        return self.rows(
            f"""SELECT r.series_id, r.seq, r.latency_ms FROM results r
                WHERE r.series_id = ANY(?) AND r.seq <= ? AND r.is_real AND r.status = 'ok' AND r.latency_ms > 0
                QUALIFY row_number() OVER (PARTITION BY r.series_id ORDER BY r.seq DESC) <= {int(limit)}
                ORDER BY r.seq""",
            [list(series_ids), until],
        )

    def places(self, record_ids: Sequence[str]) -> list[Row]:
        """Where records stand: their series, their place in time, and whether their latency counts."""
        return self.rows(
            """SELECT record_id, series_id, seq, latency_ms,
                    is_real AND status = 'ok' AND coalesce(latency_ms > 0, false) AS counts
                FROM results WHERE record_id = ANY(?)""",
            [list(record_ids)],
        )

    def _at(self, table: str, places: Sequence[int]) -> list[Row]:
        """Whole rows are fetched by where they lie: a sort that carries all columns would cost ten times as much."""
        if not places:
            return []
        wanted = ", ".join(map(str, places))
        found = self.rows(
            f"""SELECT * EXCLUDE (model_folded, device_folded, place, seq, newest, is_real), rowid AS at
                FROM {table} WHERE rowid IN (SELECT unnest([{wanted}]))"""
        )
        by_place = {row.pop("at"): row for row in found}
        return [by_place[place] for place in places]

    def _behind(self, column: str, descending: bool, record_id: str) -> tuple[str, list[Any]]:
        """The condition for what follows a record."""
        found = self.rows(f"SELECT {column} AS value, seq FROM results WHERE record_id = ?", [record_id])
        if not found:
            raise InputError("That cursor is none of ours, or its result is gone; begin again without it.")
        value, seq, sign = found[0]["value"], found[0]["seq"], "<" if descending else ">"
        if value is None:
            return f"(r.{column} IS NULL AND r.seq {sign} ?)", [seq]
        return (
            f"(r.{column} {sign} ? OR (r.{column} = ? AND r.seq {sign} ?) OR r.{column} IS NULL)",
            [value, value, seq],
        )

    def count(self, chosen: Filter, newest: bool = False, device_id: str | None = None) -> int:
        where, values = _where(chosen, device_id)
        if newest or device_id is not None or not _by_facets(chosen):
            table = "newest" if newest else "results"
            return int(self.rows(f"SELECT count(*) AS n FROM {table} r WHERE {where}", values)[0]["n"])
        return int(self.rows(f"SELECT coalesce(sum(n), 0) AS n FROM alike r WHERE {where}", values)[0]["n"])

    def facets(self, chosen: Filter) -> dict[str, list[tuple[Any, int]]]:
        """The values of each column among the chosen results, with how many have them."""
        where, values = _where(chosen)
        table, many = ("alike", "sum(n)") if _by_facets(chosen) else ("results", "count(*)")
        sets = ", ".join(f"({name})" for name in FACETS)
        rows = self.rows(
            f"""SELECT {", ".join(FACETS)}, {many}::BIGINT AS n, grouping({", ".join(FACETS)}) AS which
                FROM {table} r WHERE {where} GROUP BY GROUPING SETS ({sets})""",
            values,
        )
        found: dict[str, list[tuple[Any, int]]] = {name: [] for name in FACETS}
        for row in rows:
            name = next(each for place, each in enumerate(FACETS) if not row["which"] >> (len(FACETS) - 1 - place) & 1)
            if row[name] is not None:
                found[name].append((row[name], row["n"]))
        return {name: sorted(pairs) for name, pairs in found.items()}

    def facet(self, name: str, chosen: Filter = Filter()) -> list[tuple[Any, int]]:
        """The same for one column."""
        if name not in FACETS:
            raise UnknownName("column", name, FACETS)
        where, values = _where(chosen)
        table, many = ("alike", "sum(n)") if _by_facets(chosen) else ("results", "count(*)")
        rows = self.rows(
            f"""SELECT {name} AS value, {many}::BIGINT AS n FROM {table} r WHERE {where} AND {name} IS NOT NULL
                GROUP BY {name} ORDER BY value""",
            values,
        )
        return [(row["value"], row["n"]) for row in rows]

    def matrix(self, chosen: Filter) -> list[Row]:
        """Of each model on each platform: how its newest results ended, the best of inference, when it was last."""
        where, values = _where(chosen)
        return self.rows(
            f"""SELECT r.model, r.platform, any_value(r.family) AS family, count(*) AS results,
                    count(*) FILTER (r.status = 'ok') AS ok, count(*) FILTER (r.status = 'failed') AS failed,
                    count(*) FILTER (r.status = 'invalid') AS invalid,
                    count(*) FILTER (r.status = 'skipped') AS skipped,
                    arg_min(r.record_id, r.latency_ms / r.batch) FILTER ({_GOOD}) AS best_id,
                    min(r.latency_ms / r.batch) FILTER ({_GOOD}) AS best_ms,
                    max(r.throughput_per_s) FILTER ({_GOOD}) AS best_per_s,
                    max(r.started_at) AS last, any_value(r.reason) FILTER (r.status <> 'ok') AS reason
                FROM newest r WHERE {where} AND r.workload <> 'hardware'
                GROUP BY r.model, r.platform ORDER BY r.model, r.platform""",
            values,
        )

    def runs(self, limit: int, before: str | None = None, run_id: str | None = None) -> list[Row]:
        """Newest first, with how their cases ended."""
        return self.rows(
            f"""SELECT * FROM runs WHERE (? IS NULL OR run_id < ?) AND (? IS NULL OR run_id = ?)
                ORDER BY run_id DESC LIMIT {int(limit)}""",
            [before, before, run_id, run_id],
        )

    def devices(self) -> list[Row]:
        return self.rows("SELECT * FROM devices ORDER BY platform, name, device_id")

    def models(self) -> list[Row]:
        return self.rows("SELECT * FROM models ORDER BY model")

    def series(self, chosen: Filter, limit: int, after: str | None = None) -> list[Row]:
        """Series of the chosen results with the newest of each and how many there are; moments and runs choose none."""
        where, values = _where(replace(chosen, since=None, until=None, run_id=(), record_id=()))
        return self.rows(
            f"""SELECT r.series_id, any_value(r.workload) AS workload, any_value(r.model) AS model,
                    any_value(r.platform) AS platform, any_value(r.device) AS device, any_value(r.runtime) AS runtime,
                    any_value(r.precision) AS precision, any_value(r.batch) AS batch, any_value(r.shape) AS shape,
                    any_value(r.options) AS options, sum(r.results)::BIGINT AS results, min(r.first) AS first,
                    max(r.last) AS last, arg_max(r.latency_ms, r.last) AS latency_ms
                FROM series r WHERE {where} AND (? IS NULL OR r.series_id > ?)
                GROUP BY r.series_id ORDER BY r.series_id LIMIT {int(limit)}""",
            [*values, after, after],
        )


def _where(chosen: Filter, device_id: str | None = None) -> tuple[str, list[object]]:
    """What is asked for most, all that is real, has a column of its own."""
    if device_id is not None:
        where, values = _where(chosen)
        return f"{where} AND r.device_id = ?", [*values, device_id]
    if set(chosen.provenance) != REAL:
        return chosen.where(_COLUMNS)
    where, values = replace(chosen, provenance=()).where(_COLUMNS)
    return f"r.is_real AND {where}", values


def _by_facets(chosen: Filter) -> bool:
    """Whether the results are chosen by nothing but facets, so that counts of what is alike tell them."""
    return chosen == replace(chosen, since=None, until=None, run_id=(), record_id=(), series_id=())


def _let_go(connection: duckdb.DuckDBPyConnection, folder: Path) -> None:
    connection.close()
    shutil.rmtree(folder, ignore_errors=True)


def _filled(sql: str) -> str:
    """The statements with a column for each metric that lists show."""
    bounds = (f"r.{name}.low AS {name}_low, r.{name}.high AS {name}_high" for name in WITH_INTERVAL)
    values = (f"r.{name}.value AS {name}" for name in VALUES)
    assert set(VALUES) <= METRICS.keys()
    real = ", ".join(quoted(provenance) for provenance in sorted(REAL))
    return (
        sql.replace("{values}", ", ".join((*values, *bounds)))
        .replace("{facets}", ", ".join(FACETS))
        .replace("{real}", real)
    )
