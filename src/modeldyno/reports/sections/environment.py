"""Where and with what the records were made: runs, hosts, devices, software."""

from __future__ import annotations

from collections.abc import Sequence

from modeldyno.core.types import Record, Run
from modeldyno.reports.cells import number, number_column, table, text_column, words
from modeldyno.reports.document import Block, Row, Section
from modeldyno.reports.material import Material
from modeldyno.reports.template import Part

MOST_RUNS = 20


def environment(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """The runs, newest first, and the versions of the software that took part."""
    if not material.runs:
        return None
    counted = {run.run_id: 0 for run in material.runs}
    for record in material.records:
        counted[record.run_id] = counted.get(record.run_id, 0) + 1
    columns = (
        text_column("run"),
        text_column("started"),
        text_column("host"),
        text_column("processor"),
        number_column("memory (GiB)", "memory_gib"),
        text_column("commit"),
        number_column("records"),
        text_column("command"),
    )
    rows = [_run(run, counted[run.run_id]) for run in material.runs]
    blocks: list[Block] = [table("runs", "Runs", columns, rows, MOST_RUNS)]
    versions = _versions(material.records)
    blocks += [table("software", "Software", (text_column("package"), text_column("versions")), versions)]
    return Section(name="environment", title="Where it was measured", blocks=tuple(blocks))


def _run(run: Run, records: int) -> Row:
    host = run.host
    memory = None if host.memory_mb is None else round(host.memory_mb / 1024)
    processor = f"{host.cpu or 'unknown'}" + (f", {host.logical_cores} cores" if host.logical_cores else "")
    return Row(
        cells=(
            words(run.run_id),
            words(f"{run.started_at:%Y-%m-%d %H:%M}"),
            words(host.hostname or host.host_id),
            words(processor),
            number(memory),
            words((run.commit or "-")[:12]),
            number(records),
            words(run.command),
        )
    )


def _versions(records: Sequence[Record]) -> list[Row]:
    found: dict[str, set[str]] = {}
    for record in records:
        for name, version in record.software.items():
            found.setdefault(name, set()).add(version)
    return [Row(cells=(words(name), words(", ".join(sorted(versions))))) for name, versions in sorted(found.items())]


MEMBER = environment
