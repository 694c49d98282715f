"""What prediction learns from: a few columns of every result that is real, without samples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from modeldyno.core.metrics import metric
from modeldyno.core.policy import GATE
from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import RELATION
from modeldyno.store.store import Store

_REAL = tuple(provenance.value for provenance in Provenance if provenance.is_real)
Row = dict[str, Any]


def read_cells(store: Store, name: str, *others: str) -> Iterator[Row]:
    """Oldest first: the case in its columns, device, counts of the work, software, and the metrics by their names."""
    metrics = ", ".join(f"r.{metric(one).name}.value AS {one}" for one in (name, *others))
    with store.reading() as connection:
        rows = connection.execute(
            f"""SELECT c.workload, c.model, c.platform, c.runtime, c.precision, c.batch, c.shape, c.options,
                    d.name AS device, m.parameters, TRY_CAST(r.model_info ->> 'gflop' AS DOUBLE) AS gflop,
                    r.activations.value AS activations, r.placement -> 'nodes' AS nodes,
                    r.software, r.started_at, {metrics}
                FROM {RELATION} JOIN runs u ON u.run_id = r.run_id
                WHERE r.status = ? AND r.provenance IN ({", ".join("?" * len(_REAL))})
                    AND d.name IS NOT NULL AND NOT coalesce(d.emulated, false) AND u.effort <> '{GATE}'
                ORDER BY r.started_at, r.record_id""",
            [Status.OK.value, *_REAL],
        )
        names = [column[0] for column in rows.description or ()]
        while some := rows.fetchmany(10_000):
            yield from (dict(zip(names, row, strict=True)) for row in some)
