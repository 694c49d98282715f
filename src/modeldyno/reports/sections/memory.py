"""How much memory each model needs, and what the cases of a run needed one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC

from modeldyno.analysis.best import Rivals, rivals
from modeldyno.core.metrics import format_value
from modeldyno.core.types import Provenance, Record, Run
from modeldyno.reports.cells import candidate, mark_of, marked
from modeldyno.reports.charts.bars import bars
from modeldyno.reports.charts.layout import evenly
from modeldyno.reports.charts.memory import METRIC, Peak, course
from modeldyno.reports.document import Block, Finding, Section, Tone
from modeldyno.reports.material import Material
from modeldyno.reports.sections._bars import bar_of
from modeldyno.reports.sections._names import free_choice, work
from modeldyno.reports.template import Part

MOST_MODELS = 50
MOST_PEAKS = 500
NEARLY_FULL = 0.8
"""Of a device's memory."""
OF_THE_WORKER = "resident memory of the worker"
"""What the note of a peak says that is not of the device's own memory."""
_WHOSE = (
    "It is the memory of the device where the device counts its own, else that of the worker process: "
    "compare within a platform."
)


def memory(material: Material, part: Part) -> Section | None:  # noqa: ARG001
    """Least peak memory by model and platform, then the course of the newest run."""
    found = rivals(material.measured, METRIC)
    if not found:
        return None
    shown = sorted(found, key=lambda one: (-len(one.records), one.model, one.workload))[:MOST_MODELS]
    rows = [bar_of(record, METRIC) for one in shown for record in one.records]
    peak = bars("memory-peak", "Least peak memory by platform", METRIC, rows, _note(found, shown))
    return Section(
        name="memory", title="Memory", blocks=(peak, *_course(material)), findings=_findings(material.measured)
    )


def _note(found: Sequence[Rivals], shown: Sequence[Rivals]) -> str:
    said = [f"For each platform the {free_choice(METRIC)} that needs least. {_WHOSE}"]
    if any(one.other_shapes for one in shown):
        said.append("Of several shapes the one that most platforms have.")
    if len(shown) < len(found):
        said.append(f"The {len(shown)} of {len(found)} models and workloads that were measured on most platforms.")
    return " ".join(said)


def _course(material: Material) -> tuple[Block, ...]:
    """Nothing where no run has records of two moments."""
    by_run: dict[str, list[Record]] = {}
    for record in sorted(material.measured, key=lambda r: (r.started_at, r.record_id)):
        if _peak(record) is not None:
            by_run.setdefault(record.run_id, []).append(record)
    several = {run_id for run_id, records in by_run.items() if records[0].started_at < records[-1].started_at}
    run = next((run for run in material.runs if run.run_id in several), None)
    if run is None:
        return ()
    ordered = by_run[run.run_id]
    shown = evenly(ordered, MOST_PEAKS)
    rows = [_row(run, record) for record in shown]
    note = _course_note(run, len(ordered), len(shown))
    return (course("memory-course", "Peak memory over the course of a run", rows, note),)


def _peak(record: Record) -> float | None:
    value = record.value(METRIC)
    return value if value is not None and value > 0 else None


def _row(run: Run, record: Record) -> Peak:
    seconds = (record.started_at - run.started_at).total_seconds()
    return Peak(max(0.0, seconds), record.case.label, marked(record), _peak(record) or 0.0, mark_of(record) is not None)


def _course_note(run: Run, there: int, shown: int) -> str:
    begun = f"{run.started_at.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    said = [
        f"Run {run.run_id} of {begun}, the newest with several records: a point is the peak memory of one case, in the "
        f"order they were measured; what happened between the peaks was not recorded. {_WHOSE}"
    ]
    if shown < there:
        said.append(f"{shown} of {there} cases, spread evenly.")
    said.append("Cases that a newer run measured again are left out.")
    return " ".join(said)


def _findings(records: Sequence[Record]) -> tuple[Finding, ...]:
    """Who needs most, and who comes nearest to what the device has; of what hardware gave."""
    real = [(peak, record) for record in records if mark_of(record) is None and (peak := _peak(record)) is not None]
    if not real:
        return ()
    peak, largest = max(real, key=lambda one: (one[0], one[1].record_id))
    text = f"{_place(largest)} needs most memory: {format_value(METRIC, peak)} at its peak."
    return (*_nearly_full(real), Finding(text=text))


def _nearly_full(real: Sequence[tuple[float, Record]]) -> tuple[Finding, ...]:
    shares = [(peak / size, record) for peak, record in real if (size := _size(record)) and _of_device(record)]
    share, record = max(shares, key=lambda one: (one[0], one[1].record_id), default=(0.0, None))
    if record is None or share < NEARLY_FULL:
        return ()
    text = f"{_place(record)} takes {share:.0%} of the device's {format_value(METRIC, _size(record))} of memory."
    return (Finding(text=text, tone=Tone.BAD if share >= 1 else Tone.DOUBT),)


def _size(record: Record) -> float:
    return (record.device.memory_mb if record.device else None) or 0.0


def _of_device(record: Record) -> bool:
    """Whether the peak is known to be of the memory that the device has."""
    note = record.metrics[METRIC].note or ""
    return record.provenance is Provenance.MEASURED and OF_THE_WORKER not in note


def _place(record: Record) -> str:
    return f"{work(record.case)} on {candidate(record)}"


MEMBER = memory
