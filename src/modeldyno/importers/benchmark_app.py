"""OpenVINO's benchmark_app, in C++ and Python: what it prints, and its report as CSV or JSON.

Latency is that of one request, which is one batch; several requests may run at once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import PureWindowsPath
from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_dict, as_text, said
from modeldyno.importers._sheet import Sheet
from modeldyno.importers._words import number_of

_FIRST_STEP = re.compile(r"^\s*\[Step 1/\d+\] ", re.MULTILINE)
_COMMAND = re.compile(r"\bbenchmark_app\b.* -m.*")
_SECTION = re.compile(r"^(Command line parameters|Configuration setup|Execution results);?\s*$", re.MULTILINE)
_PARTS = {
    "Command line parameters": "cmd_options",
    "Configuration setup": "configuration_setup",
    "Execution results": "execution_results",
}
_GENERIC = re.compile(r"(openvino_)?model\d*|torch[_-]jit.*|main_graph|saved_model|unknown", re.IGNORECASE)
"""Names that say nothing: of files that are always called so, and of graphs whose author gave none."""
_NAMES = {
    "batch": ("batch size", "batch_size"),
    "requests": ("number of parallel infer requests", "nireq"),
    "device": ("target device", "target_device"),
    "topology": ("topology",),
    "median": ("latency (ms)", "median latency (ms)", "latency_median"),
    "90": ("latency (90 percentile) (ms)",),
    "95": ("latency (95 percentile) (ms)",),
    "99": ("latency (99 percentile) (ms)",),
    "boundary": ("percentile boundary", "percentile_boundary"),
    "average": ("avg latency", "average latency (ms)", "latency_avg"),
    "min": ("min latency", "min latency (ms)", "latency_min"),
    "max": ("max latency", "max latency (ms)", "latency_max"),
    "rate": ("throughput",),
    "first": ("first inference time (ms)", "first_inference_time"),
    "read": ("read model time (ms)", "read_model_time"),
    "compile": ("compile model time (ms)", "compile_model_time"),
    "error": ("error",),
}
"""What the reports of both programs call our facts."""
_LINES = {
    "batch": r"(?:Model|Network) batch size: *(\d+)",
    "requests": r"asynchronously, *(\d+) inference requests",
    "device": r"Device info:\s*(?:\[ INFO \])?\s*([A-Z]\S*)",
    "ran_on": r"Execution Devices: *\[?'?\(?([\w.]+)",
    "precision": r"INFERENCE_PRECISION_HINT: *(?:<Type: ')?(\w+)",
    "topology": r"NETWORK_NAME: *(\S+)",
    "first": r"First inference took +(\S+) ms",
    "read": r"Read (?:model|network) took +(\S+) ms",
    "compile": r"Compile model took +(\S+) ms",
    "rate": r"Throughput: *(\S+) FPS",
    "error": r"\[ ERROR \] *(.+)",
}
_LATENCY = re.compile(r"\b(Median|Average|AVG|Min|Max|\d+ percentile): +(\S+) (ms|us)\b")
_METRICS = {
    "latency_ms": "median",
    "latency_mean_ms": "average",
    "latency_min_ms": "min",
    "latency_max_ms": "max",
    "latency_p90_ms": "90",
    "latency_p95_ms": "95",
    "latency_p99_ms": "99",
}
_COARSE_MS = 0.1
"""Reports round to two decimals: below this a latency is too coarse to be held against the throughput."""


@dataclass(frozen=True)
class _Result:
    """One run of the program: the options it was given and what it found, under our names."""

    place: str
    options: Mapping[str, str]
    facts: Mapping[str, Any]

    def fact(self, name: str) -> str | None:
        return as_text(self.facts.get(name))


class BenchmarkApp:
    name = "benchmark-app"
    about = "OpenVINO benchmark_app: its output, or -report_type no_counters with or without -json_stats"

    def recognises(self, document: Document) -> bool:
        if isinstance(document.data, dict):
            return document.keys >= {"cmd_options", "execution_results"}
        return bool(_FIRST_STEP.search(document.text)) or len(set(_SECTION.findall(document.text))) > 1

    def read(self, document: Document, sheet: Sheet) -> None:
        run = sheet.run()
        for result in _results(document):
            failed = result.facts.get("rate") is None
            sheet.record(
                result.place,
                run=run,
                in_flight=_in_flight(result),
                model=_model(result, sheet),
                platform="openvino",
                runtime=said(sheet, "runtime") or "openvino",
                precision=_precision(result) or said(sheet, "precision"),
                batch=result.fact("batch") or said(sheet, "batch") or 1,
                device=_device(result) or said(sheet, "device"),
                options=_options(result),
                status=Status.FAILED if failed else Status.OK,
                reason=(result.fact("error") or "it ended without a result") if failed else None,
                metrics={} if failed else _metrics(result),
            )


def _results(document: Document) -> Iterator[_Result]:
    if isinstance(document.data, dict):
        yield _reported({part: as_dict(document.data.get(part)) for part in _PARTS.values()})
    elif _FIRST_STEP.search(document.text):
        yield from _printed(document.text)
    else:
        yield _reported(_csv_parts(document.text))


def _csv_parts(report: str) -> dict[str, dict[str, Any]]:
    """The parts of a CSV report by the names they have in JSON; the first of a name counts."""
    parts: dict[str, dict[str, Any]] = {part: {} for part in _PARTS.values()}
    current = parts["cmd_options"]
    for line in report.splitlines():
        name, _, value = line.strip().partition(";")
        if name in _PARTS:
            current = parts[_PARTS[name]]
        elif name:
            current.setdefault(name, value.removesuffix(";"))
    return parts


def _reported(parts: Mapping[str, Mapping[str, Any]]) -> _Result:
    options = {str(name).lstrip("-"): as_text(value) or "" for name, value in parts["cmd_options"].items()}
    rows = {str(name).lower(): value for part in list(_PARTS.values())[1:] for name, value in parts[part].items()}
    facts = {name: next((rows[word] for word in words if word in rows), None) for name, words in _NAMES.items()}
    boundary = number_of(facts["boundary"])
    if boundary not in (None, 50):
        facts[f"{boundary:g}"] = facts.pop("median")
    return _Result("execution results", options, facts)


def _printed(log: str) -> Iterator[_Result]:
    """Each run in a log. The command, where a shell shows it, stands in front of the first step."""
    starts = [match.start() for match in _FIRST_STEP.finditer(log)]
    for number, (start, end) in enumerate(zip(starts, [*starts[1:], len(log)], strict=True)):
        commands = _COMMAND.findall(log[starts[number - 1] if number else 0 : start])
        place = f"line {log.count(chr(10), 0, start) + 1}"
        yield _Result(place, _parsed(commands[-1] if commands else ""), _lines(log[start:end]))


def _parsed(command: str) -> dict[str, str]:
    try:
        words = shlex.split(command.replace("=", " "))
    except ValueError:
        words = command.split()
    return {word.lstrip("-"): value for word, value in pairwise(words) if word.startswith("-")}


def _lines(log: str) -> dict[str, Any]:
    facts: dict[str, Any] = {name: found[1] for name, line in _LINES.items() if (found := re.search(line, log))}
    if "Start inference synchronously" in log:
        facts["requests"] = "1"
    for word, value, unit in _LATENCY.findall(log):
        name = word.lower().replace("avg", "average").removesuffix(" percentile")
        number = number_of(value)
        facts.setdefault(name, value if number is None else number * (1e-3 if unit == "us" else 1.0))
    return facts


def _metrics(result: _Result) -> dict[str, Any]:
    """A time of nothing is one that was rounded away."""
    found = {ours: result.facts.get(theirs) for ours, theirs in _METRICS.items()}
    found = {ours: None if number_of(value) == 0 else value for ours, value in found.items()}
    parts = [number_of(result.facts.get(part)) for part in ("read", "compile")]
    load = sum(part for part in parts if part is not None) if parts[1] is not None else None
    return {**found, "throughput_per_s": result.facts["rate"], "first_ms": result.facts.get("first"), "load_ms": load}


def _in_flight(result: _Result) -> float | None:
    average = number_of(result.facts.get("average"))
    return number_of(result.facts.get("requests")) if average and average >= _COARSE_MS else None


def _model(result: _Result, sheet: Sheet) -> str | None:
    """The model's file, or its folder where the file has the usual name; else what the user or the graph says."""
    path = PureWindowsPath(result.options.get("m") or result.options.get("path_to_model") or "")
    names = (path.stem, path.parent.name, said(sheet, "model"), result.fact("topology"))
    return next((name for name in names if name and not _GENERIC.fullmatch(name)), None)


def _device(result: _Result) -> str | None:
    asked = result.options.get("d") or result.options.get("target_device")
    return result.fact("ran_on") or result.fact("device") or asked


def _precision(result: _Result) -> str | None:
    """What the device computes in; the report's own `precision` is that of the inputs."""
    return result.fact("precision") or result.options.get("infer_precision") or None


def _options(result: _Result) -> dict[str, str | int]:
    requests = number_of(result.facts.get("requests"))
    return {"requests": int(requests)} if requests and requests > 1 else {}


MEMBER = BenchmarkApp()
