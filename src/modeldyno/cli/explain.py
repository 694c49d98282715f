"""`dyno explain`: why a number is what it is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from modeldyno.cli._filters import Choice, choosing
from modeldyno.cli._options import JsonOption, StoreOption
from modeldyno.cli._print import print_json, print_line, print_table
from modeldyno.cli._store import open_store

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.analysis.roofline import Ceiling, Peak, Roofline
    from modeldyno.core.types import Check, Record
    from modeldyno.store.query import Filter
    from modeldyno.store.store import Store

TOP = 8


@choosing("status")
def explain(
    what: Annotated[
        str | None,
        typer.Argument(metavar="[RECORD|RUN]", help="A record's or run's id or its beginning, or `latest`."),
    ] = None,
    choice: Choice = Choice(),
    json: JsonOption = False,
    store: StoreOption = None,
) -> None:
    """Explain a record, the records of a run, or the newest: percent of roofline, the bound, and what usually helps."""
    opened = open_store(store)
    found = _find(opened, what, choice.real_and_ok())
    hardware = _hardware(opened, found)
    answers = [_explained(record, hardware) for record in found]
    if json:
        print_json({"explanations": [_document(answer) for answer in answers]})
        return
    for answer in answers:
        _print(answer)


@dataclass(frozen=True)
class _Answer:
    """All there is to say of one record."""

    record: Record
    samples: tuple[str, ...]
    """What the raw samples tell."""
    roofline: Roofline | None
    """None for a record without a measurement."""
    helps: tuple[str, ...]
    missing: str | None
    """How to get the peaks that are not there."""


def _find(store: Store, what: str | None, chosen: Filter) -> list[Record]:
    """The record that is named; or the ok ones of a run; or the newest that the filters choose."""
    from modeldyno.core.errors import InputError
    from modeldyno.store.find import find_record

    if what and what != "latest" and (record := find_record(store, what)):
        return [record]
    in_run = replace(chosen, run_id=(store.find_run(what).run_id,)) if what else chosen
    records = store.records(in_run, None if what else 1)
    if not records:
        where = f"The run {in_run.run_id[0]}" if what else f"The store {store.path}"
        raise InputError(f"{where} has no ok record that matches; dyno show says how its cases ended.")
    return records


def _hardware(store: Store, explained: Sequence[Record]) -> list[Record]:
    """What the hardware workload measured on these platforms, the newest of each series."""
    from modeldyno.analysis.roofline import HARDWARE
    from modeldyno.core.types import Provenance, Status
    from modeldyno.store.query import Filter

    platforms = tuple({record.case.platform for record in explained})
    held = Filter(workload=(HARDWARE,), platform=platforms, status=(Status.OK,), provenance=(Provenance.MEASURED,))
    return store.newest_records(held)


def _explained(record: Record, hardware: Sequence[Record]) -> _Answer:
    from modeldyno.analysis.explain import what_helps
    from modeldyno.analysis.roofline import find_peaks, hold_against
    from modeldyno.analysis.shape import describe_record
    from modeldyno.core.types import Status

    if record.status is not Status.OK:
        return _Answer(record, (), None, (), None)
    roofline = hold_against(record, find_peaks(hardware, record))
    return _Answer(record, describe_record(record), roofline, what_helps(record, roofline), _missing(record, roofline))


def _missing(record: Record, roofline: Roofline) -> str | None:
    """The command that measures the peaks that are not there or cannot be right, if there can be one."""
    from modeldyno.analysis.roofline import HARDWARE
    from modeldyno.core.errors import UnknownName
    from modeldyno.platforms import PLATFORMS
    from modeldyno.workloads.hardware import PRECISIONS, RUNTIME

    case = record.case
    if all(ceiling.peak and not ceiling.above_peak for ceiling in roofline.ceilings):
        return None
    try:
        drives = RUNTIME in PLATFORMS.get(case.platform).runtimes
    except UnknownName:
        drives = False
    if not drives:
        return f"The peaks of {case.platform} cannot be measured: PyTorch, which runs the probes, does not drive it."
    if case.precision not in PRECISIONS:
        others = f"; measure the other peaks with: dyno run copy launch --workload {HARDWARE} --on {case.target}"
        known = roofline.memory.peak and roofline.launch.peak
        return f"There is no probe for the matrix rate in {case.precision}{'' if known else others}"
    return f"Measure the device's peaks with: dyno run hardware --on {case.target} --precision {case.precision}"


def _print(answer: _Answer) -> None:
    record = answer.record
    for line in _heading(record):
        print_line(line)
    if answer.roofline is None:
        reason = "; ".join(part for part in (record.reason, record.remedy) if part)
        print_line(f"Not measured: {record.status.value}: {reason or 'no reason is known'}\n")
        return
    print_line(f"Trust: {_trust(record)}")
    _print_list("Against it:", [_concern(check) for check in _concerns(record)])
    _print_list("Samples:", answer.samples)
    print_line(_bound_line(answer.roofline))
    print_table(_ceiling_table(answer.roofline))
    print_line(_roofline_line(answer.roofline))
    if answer.missing:
        print_line(answer.missing)
    if record.profile:
        print_table(_profile_table(record))
    _print_list("What usually helps:", answer.helps)
    print_line("")


def _print_list(heading: str, lines: Sequence[str]) -> None:
    if lines:
        print_line("\n".join([heading, *(f"  - {line}" for line in lines)]))


def _heading(record: Record) -> list[str]:
    from modeldyno.cli._tables import metric_text

    device = record.device.name if record.device else "a device that is not known"
    label = "" if record.provenance.is_real else f" These numbers are {record.provenance.value}."
    values = [
        metric_text(record, name)
        for name in ("latency_ms", "throughput_per_s", "compute_rate_gflops", "bandwidth_gb_per_s", "launch_us")
        if record.value(name) is not None
    ]
    moment = record.started_at.strftime("%Y-%m-%d %H:%M")
    return [record.case.label, f"On {device}, {moment} UTC, record {record.record_id}.{label}", " · ".join(values)]


def _trust(record: Record) -> str:
    return record.passport.verdict.value if record.passport else "no passport came with it"


def _concerns(record: Record) -> tuple[Check, ...]:
    return record.passport.concerns if record.passport else ()


def _concern(check: Check) -> str:
    limit = "" if check.limit is None else f" (limit {check.limit})"
    return f"{check.name} {check.value}{limit}: {check.advice or 'no advice'}"


_WORDS = {
    "compute": "compute-bound",
    "memory": "memory-bound",
    "launch": "launch-bound",
    "none": "none of compute, memory and launches",
    "unknown": "not known",
}


def _bound_line(roofline: Roofline) -> str:
    return f"Bound: {_WORDS[roofline.bound.value]}; {roofline.because}."


def _roofline_line(roofline: Roofline) -> str:
    parts = []
    if roofline.share is not None:
        parts.append(f"{roofline.share:.0%} of the roofline")
    if roofline.intensity is not None:
        parts.append(f"{roofline.intensity:.3g} operations per byte")
    if roofline.attainable_gflops is not None:
        parts.append(f"{roofline.attainable_gflops:.4g} GFLOP/s attainable")
    if roofline.idle_share is not None:
        parts.append(f"device idle for {roofline.idle_share:.0%} of the step")
    return f"Roofline: {', '.join(parts) or 'not known'} (Williams, Waterman, Patterson 2009)"


def _ceiling_table(roofline: Roofline) -> Table:
    from modeldyno.cli._tables import new_table

    table = new_table("Ceilings", ["ceiling", "this step", "peak of the device", "share of the step", "rests on"])
    for ceiling in roofline.ceilings:
        share = "-" if ceiling.share is None else f"{ceiling.share:.0%}"
        table.add_row(ceiling.bound.value, _achieved_text(ceiling), _peak_text(ceiling), share, ceiling.remark or "")
    return table


def _achieved_text(ceiling: Ceiling) -> str:
    from modeldyno.core.metrics import format_value

    return "-" if ceiling.achieved is None else format_value(ceiling.metric, ceiling.achieved)


def _peak_text(ceiling: Ceiling) -> str:
    from modeldyno.core.metrics import format_value

    peak = ceiling.peak
    if peak is None:
        return "not measured"
    doubt = "" if peak.trusted else ", ambiguous"
    return f"{format_value(ceiling.metric, peak.value)} ({_probe_text(peak)}{doubt})"


def _probe_text(peak: Peak) -> str:
    return f"{peak.record.case.model} {peak.record.case.sizes}"


def _profile_table(record: Record) -> Table:
    from modeldyno.cli._tables import new_table

    kind = record.profile[0].kind or "part"
    table = new_table(f"Where the time goes, by {kind}", ["name", "calls", "ms per step", "share"])
    for row in record.profile[:TOP]:
        table.add_row(row.name, str(row.calls), f"{row.time_ms:.4f}", f"{row.share:.1%}")
    return table


def _document(answer: _Answer) -> dict[str, Any]:
    record, roofline = answer.record, answer.roofline
    document: dict[str, Any] = {
        "record_id": record.record_id,
        "case": record.case.model_dump(mode="json"),
        "device": record.device.name if record.device else None,
        "status": record.status.value,
        "reason": record.reason,
        "provenance": record.provenance.value,
        "latency_ms": record.metrics["latency_ms"].model_dump() if "latency_ms" in record.metrics else None,
        "trust": _trust(record),
        "concerns": [check.model_dump(mode="json") for check in _concerns(record)],
        "samples": list(answer.samples),
    }
    if roofline is None:
        return document
    return document | {
        "bound": roofline.bound.value,
        "because": roofline.because,
        "roofline_share": roofline.share,
        "operations_per_byte": roofline.intensity,
        "attainable_gflops": roofline.attainable_gflops,
        "idle_share": roofline.idle_share,
        "ceilings": [_ceiling_document(ceiling) for ceiling in roofline.ceilings],
        "profile": [row.model_dump(mode="json") for row in record.profile[:TOP]],
        "helps": list(answer.helps),
        "missing": answer.missing,
    }


def _ceiling_document(ceiling: Ceiling) -> dict[str, Any]:
    return {
        "bound": ceiling.bound.value,
        "share": ceiling.share,
        "achieved": ceiling.achieved,
        "peak": ceiling.peak.value if ceiling.peak else None,
        "peak_record_id": ceiling.peak.record.record_id if ceiling.peak else None,
        "metric": ceiling.metric,
        "remark": ceiling.remark,
        "unknown": ceiling.unknown,
    }
