"""Which metrics a table of records shows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from modeldyno.cli._tables import DEFAULT_METRICS

if TYPE_CHECKING:
    from modeldyno.core.types import Record


def by_columns(records: list[Record], wanted: list[str]) -> dict[tuple[str, ...], list[Record]]:
    """Records by the metrics asked for; else by those that say most about them, which a workload may declare."""
    if wanted:
        return {_known(wanted, records): records}
    groups: dict[str, list[Record]] = {}
    for record in records:
        groups.setdefault(record.case.workload, []).append(record)
    found: dict[tuple[str, ...], list[Record]] = {}
    for workload, group in groups.items():
        found.setdefault(_usual(workload, group), []).extend(group)
    return found


def _known(wanted: list[str], records: list[Record]) -> tuple[str, ...]:
    from modeldyno.core.metrics import metric

    present = _present(records)
    return tuple(name if name in present else metric(name).name for name in wanted)


def _usual(workload: str, records: list[Record]) -> tuple[str, ...]:
    """Of results from elsewhere and benchmarks of one's own, which have none of the usual, what there is."""
    from modeldyno.workloads import WORKLOADS

    declared = WORKLOADS.get(workload) if workload in WORKLOADS.names() else None
    usual: tuple[str, ...] = getattr(declared, "shows", DEFAULT_METRICS)
    present = _present(records)
    return usual if any(name in present for name in usual) else tuple(present)[:4]


def _present(records: list[Record]) -> dict[str, None]:
    return dict.fromkeys(name for record in records for name in record.metrics)
