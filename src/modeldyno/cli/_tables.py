"""Records as tables for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from modeldyno.cli._print import has_room
from modeldyno.core.metrics import METRICS, format_value
from modeldyno.core.types import Case, Record, Status

if TYPE_CHECKING:
    from rich.table import Table

    from modeldyno.analysis.best import Best

DEFAULT_METRICS = ("latency_ms", "throughput_per_s", "memory_peak_mb")
_UNBROKEN = ("model", "on", "runtime", "precision")
_LEAST = {"verdict": len("ambiguous:"), "shape": len("decoder_seq 8")}
"""Characters that a column needs so that its longest words stay whole."""
_HEADINGS = {
    "latency_ms": "latency",
    "throughput_per_s": "throughput",
    "memory_peak_mb": "peak memory",
    "first_token_ms": "first token",
    "inter_token_ms": "between tokens",
    "tokens_per_s": "speed",
    "kv_cache_mb": "kv cache",
}


def record_table(records: Iterable[Record], metrics: Sequence[str] = DEFAULT_METRICS) -> Table:
    """Records that have numbers, one row each; of several devices of one platform each is named."""
    headings = [_HEADINGS.get(name, name.replace("_", " ")) for name in metrics]
    table = new_table("Results", [*_case_headings(), *headings, "verdict"])
    shown = list(records)
    named = _need_names(shown)
    for record in shown:
        values = (metric_text(record, name) for name in metrics)
        device = record.device.name if record.device and record.case.platform in named else ""
        table.add_row(*_case_cells(record.case, device), *values, verdict_text(record))
    return table


def _need_names(records: Sequence[Record]) -> set[str]:
    """Platforms of which more than one kind of device is there, as after an import from another machine."""
    devices: dict[str, set[str | None]] = {}
    for record in records:
        devices.setdefault(record.case.platform, set()).add(record.device.name if record.device else None)
    return {platform for platform, names in devices.items() if len(names) > 1}


def problem_table(records: Iterable[Record]) -> Table:
    """Records without numbers, and why."""
    table = new_table("Not measured", [*_case_headings(), "status", "reason"])
    for record in records:
        reason = "; ".join(part for part in (record.reason, record.remedy) if part)
        table.add_row(*_case_cells(record.case), record.status.value, reason)
    return table


def best_table(by_latency: Sequence[Best], by_throughput: Sequence[Best]) -> Table:
    """What to use for each model, precision and shape."""
    columns = ["model", "precision", "shape", "lowest latency", "latency", "highest throughput", "throughput", "trust"]
    table = new_table("What to use", columns)
    throughputs = {best.work: best for best in by_throughput}
    for best in by_latency:
        case, other = best.record.case, throughputs.get(best.work)
        model = case.model if case.workload == "inference" else f"{case.model} ({case.workload})"
        cells = [model, case.precision, _axes(case)]
        trust = "ambiguous, repeat it" if best.doubtful else "valid"
        table.add_row(*cells, *_choice(best), *(_choice(other) if other else ("-", "-")), trust)
    return table


def _choice(best: Best) -> tuple[str, str]:
    name = _candidate(best.record.case)
    if best.ties:
        more = f" +{len(best.ties) - 1}" if len(best.ties) > 1 else ""
        name += f" (within error: {_candidate(best.ties[0].case)}{more})"
    return name, metric_text(best.record, best.metric)


def _candidate(case: Case) -> str:
    return " ".join([case.target, case.runtime, f"batch {case.batch}", *_options(case)])


def plan_table(cases: Iterable[tuple[Case, str]]) -> Table:
    table = new_table("Plan", [*_case_headings(), "workload", "what will happen"])
    for case, fate in cases:
        table.add_row(*_case_cells(case), case.workload, fate)
    return table


def _case_headings() -> list[str]:
    """A column for each part of a case where there is room; on a narrow terminal one that folds."""
    return ["model", "on", "runtime", "precision", "batch", "shape"] if has_room() else ["case"]


def _case_cells(case: Case, device: str = "") -> list[str]:
    if not has_room():
        return [f"{case.label} · {device}" if device else case.label]
    return [
        case.model,
        f"{case.target} {device}".strip(),
        case.runtime,
        case.precision,
        str(case.batch),
        case.sizes,
    ]


def _axes(case: Case) -> str:
    return " ".join(f"{axis} {size}" for axis, size in case.shape.items())


def _options(case: Case) -> list[str]:
    return [f"{name}={value}" for name, value in case.options.items()]


def metric_text(record: Record, name: str) -> str:
    metric = record.metrics.get(name)
    if metric is None:
        return "-"
    if metric.value is None:
        return metric.note or "-"
    return format_value(name, metric.value, metric.low, metric.high)


def verdict_text(record: Record) -> str:
    """The passport's verdict with what speaks most against the number; --passport shows all of it."""
    if record.passport is None:
        return "-"
    names = [check.name.removesuffix("_per_s_per_thread").replace("_", " ") for check in record.passport.concerns]
    more = f" +{len(names) - 1}" if len(names) > 1 else ""
    concerns = "".join(names[:1]) + more
    return f"{record.passport.verdict.value}: {concerns}" if concerns else record.passport.verdict.value


def one_line(record: Record) -> str:
    """A record as a line of progress."""
    said = next((name for name in ("latency_ms", "throughput_per_s") if name in record.metrics), None)
    if record.status is Status.OK and said:
        return f"{record.case.label}: {metric_text(record, said)}"
    return f"{record.case.label}: {record.status.value} ({record.reason})"


def new_table(title: str, columns: Sequence[str]) -> Table:
    from rich import box
    from rich.table import Table

    table = Table(title=title, title_justify="left", title_style="bold", box=box.SIMPLE_HEAD)
    numeric = {*(name.replace("_", " ") for name in METRICS), *_HEADINGS.values(), "batch"}
    for column in columns:
        right = column in numeric
        whole = has_room() and (right or column in _UNBROKEN)
        justify: Literal["left", "right"] = "right" if right else "left"
        table.add_column(
            column,
            justify=justify,
            no_wrap=whole,
            overflow="fold",
            min_width=_LEAST.get(column) if has_room() else None,
        )
    return table
