"""One metric of many series over time: the few columns that a history needs, without samples."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from itertools import groupby
from operator import itemgetter
from typing import Any

from modeldyno.core.metrics import metric
from modeldyno.core.policy import GATE
from modeldyno.core.types import Case, Host, Provenance, Status
from modeldyno.store.query import RELATION, Filter
from modeldyno.store.store import Store

_CASE = ("workload", "model", "platform", "runtime", "precision", "batch", "shape", "weights", "options")


@dataclass(frozen=True, slots=True)
class Point:
    """One record of a series as far as one metric goes."""

    record_id: str
    run_id: str
    started_at: datetime
    status: Status
    provenance: Provenance
    value: float | None
    low: float | None
    high: float | None
    commit: str | None
    host: Host
    """As it was then."""
    index: int
    """Which device of the platform."""
    driver: str | None
    software: tuple[tuple[str, str], ...]
    """Versions by package, in order."""

    @property
    def host_id(self) -> str:
        return self.host.host_id


@dataclass(frozen=True)
class Series:
    """The points of one case on equal hardware, oldest first."""

    series_id: str
    case: Case
    device: str | None
    points: tuple[Point, ...]
    emulated: bool = False
    """Whether the device is an emulator: its speed says nothing about the hardware it stands for."""


def read_series(store: Store, chosen: Filter, name: str) -> list[Series]:
    """All series of the records that the filter chooses, with the metric of this name."""
    column = metric(name).name
    where, values = chosen.where()
    with store.reading() as connection:
        cases = connection.execute(
            f"""SELECT r.series_id, any_value(d.name), coalesce(any_value(d.emulated), false),
                    {", ".join(f"any_value(c.{part})" for part in _CASE)}
                FROM {RELATION} WHERE {where} GROUP BY r.series_id""",
            values,
        ).fetchall()
        rows = connection.execute(
            f"""SELECT r.series_id, r.record_id, r.run_id, r.started_at, r.status, r.provenance, r.{column}.value,
                    r.{column}.low, r.{column}.high, u.git_commit, u.host, r.device_index, r.device ->> 'driver',
                    r.software
                FROM {RELATION} JOIN runs u ON u.run_id = r.run_id
                WHERE {where} AND u.effort <> '{GATE}' ORDER BY r.series_id, r.started_at, r.record_id""",
            values,
        )
        known = {series_id: (_case(parts), device, emulated) for series_id, device, emulated, *parts in cases}
        grouped = groupby(_fetched(rows), key=itemgetter(0))
        return [_series(series_id, *known[series_id], group) for series_id, group in grouped]


def _series(series_id: str, case: Case, device: str | None, emulated: bool, rows: Iterable[tuple[Any, ...]]) -> Series:
    return Series(series_id, case, device, tuple(map(_point, rows)), emulated)


def _fetched(rows: Any, size: int = 50_000) -> Iterator[tuple[Any, ...]]:
    while batch := rows.fetchmany(size):
        yield from batch


def _case(parts: list[Any]) -> Case:
    told = dict(zip(_CASE, parts, strict=True))
    return Case.model_validate(told | {name: json.loads(told[name]) for name in ("shape", "options")})


def _point(row: tuple[Any, ...]) -> Point:
    _, record_id, run_id, started_at, status, provenance, value, low, high, commit, host, index, driver, software = row
    return Point(
        record_id,
        run_id,
        started_at.replace(tzinfo=UTC),
        _STATUS[status],
        _PROVENANCE[provenance],
        value,
        low,
        high,
        commit,
        _host(host),
        index,
        driver,
        _versions(software),
    )


_STATUS = {str(status): status for status in Status}
_PROVENANCE = {str(provenance): provenance for provenance in Provenance}


@lru_cache(maxsize=4096)
def _host(text: str) -> Host:
    """Few different ones stand in very many rows."""
    return Host.model_validate_json(text)


@lru_cache(maxsize=4096)
def _versions(software: str) -> tuple[tuple[str, str], ...]:
    """Here as well."""
    return tuple(sorted(json.loads(software).items()))
