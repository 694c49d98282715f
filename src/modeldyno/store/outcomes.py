"""Whether something worked: the few columns that compatibility needs, the newest of each case, without samples."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from typing import Any

from modeldyno.core.types import Status
from modeldyno.store.query import RELATION, Filter
from modeldyno.store.store import Store


@dataclass(frozen=True)
class Try:
    """One outcome of a model on a platform, from a measurement or from a test."""

    outcome_id: str
    model: str
    platform: str
    status: Status
    moment: datetime
    reason: str | None = None
    met_device: bool = True
    """False where the device itself was absent: that tells of the host, not of the model."""
    remedy: str | None = None
    workload: str | None = None
    """None for a test, which tells nothing of all that follows."""
    runtime: str | None = None
    precision: str | None = None
    batch: int | None = None
    shape: dict[str, int] = field(default_factory=dict)
    per_s: float | None = None
    """Items per second, where measured."""


_RECORDS = f"""
    SELECT r.record_id, c.model, c.platform, r.status, r.started_at, r.reason,
        r.device_id IS NOT NULL OR r.status <> 'skipped' AS met_device,
        r.remedy, c.workload, c.runtime, c.precision, c.batch, c.shape, r.throughput_per_s.value
    FROM {RELATION}
    WHERE c.workload <> 'hardware' AND NOT coalesce(d.emulated, false) AND {{where}}
    QUALIFY row_number() OVER (
        PARTITION BY r.case_key ORDER BY met_device DESC, r.started_at DESC, r.record_id DESC) = 1
    ORDER BY r.record_id
"""
"""The probes of the hardware are no models, and an emulator tells nothing of the hardware it stands for."""
_TESTS = """
    SELECT r.test_id, c.model, c.platform, r.status, r.started_at, r.reason, r.status <> 'skipped' AS met_device
    FROM tests r JOIN tests c USING (test_id)
    WHERE c.model IS NOT NULL AND c.platform IS NOT NULL AND {where}
    QUALIFY row_number() OVER (
        PARTITION BY c.model, c.platform, r.name ORDER BY met_device DESC, r.started_at DESC, r.test_id DESC) = 1
    ORDER BY r.test_id
"""
"""Twice the same table, because conditions call its columns by where a record has them."""
_UNTOLD = (
    "record_id",
    "series_id",
    "family",
    "architecture",
    "device",
    "runtime",
    "precision",
    "batch",
    "workload",
)
"""What a filter may ask for and a test does not say."""


def read_tries(store: Store, chosen: Filter) -> list[Try]:
    """The newest outcome of each case and of each test; one that met the device goes before one that did not.

    A test takes no part where something is asked for that it does not say, such as the runtime."""
    where, values = chosen.where()
    asked = [_RECORDS] if any(getattr(chosen, name) for name in _UNTOLD) else [_RECORDS, _TESTS]
    with store.reading() as connection:
        return [_try(*row) for sql in asked for row in connection.execute(sql.format(where=where), values).fetchall()]


def _try(
    outcome_id: str, model: str, platform: str, status: str, moment: datetime, reason: str | None, met: bool, *more: Any
) -> Try:
    known = Try(outcome_id, model, platform, Status(status), moment.replace(tzinfo=UTC), reason, met)
    if not more:
        return known
    remedy, workload, runtime, precision, batch, shape, per_s = more
    return replace(
        known,
        remedy=remedy,
        workload=workload,
        runtime=runtime,
        precision=precision,
        batch=batch,
        shape=json.loads(shape),
        per_s=per_s if per_s is not None and math.isfinite(per_s) else None,
    )
