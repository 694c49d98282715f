"""How many records there are of what, without reading them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime

from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import RELATION, Filter
from modeldyno.store.store import Store


@dataclass(frozen=True)
class Count:
    """Records that are alike in platform, device, workload, status, provenance and whether an emulator gave them."""

    platform: str
    device: str | None
    """None where nothing ran, or nobody says on what."""
    index: int
    """Of the device that was asked for."""
    workload: str
    status: Status
    provenance: Provenance
    emulated: bool
    records: int
    models: frozenset[str]
    first: datetime
    last: datetime


def count_records(store: Store, chosen: Filter) -> tuple[Count, ...]:
    """All records that the filter chooses, by what they are."""
    where, values = chosen.where()
    with store.reading() as connection:
        rows = connection.execute(
            f"""SELECT c.platform, d.name, r.device_index, c.workload, r.status, r.provenance,
                    coalesce(d.emulated, false), count(*), list(DISTINCT c.model), min(r.started_at), max(r.started_at)
                FROM {RELATION} WHERE {where} GROUP BY ALL ORDER BY ALL""",
            values,
        ).fetchall()
    return tuple(
        Count(
            platform,
            device,
            index,
            workload,
            Status(status),
            Provenance(provenance),
            emulated,
            records,
            frozenset(models),
            first.replace(tzinfo=UTC),
            last.replace(tzinfo=UTC),
        )
        for platform, device, index, workload, status, provenance, emulated, records, models, first, last in rows
    )


def count_series(store: Store, chosen: Filter) -> int:
    """How many series the chosen records are points of."""
    where, values = chosen.where()
    with store.reading() as connection:
        rows = connection.execute(
            f"SELECT count(DISTINCT (r.series_id, r.device_index, r.provenance)) FROM {RELATION} WHERE {where}", values
        ).fetchone()
    return int(rows[0]) if rows else 0
