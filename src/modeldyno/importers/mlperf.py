"""MLPerf LoadGen: `mlperf_log_summary.txt`. Latencies are nanoseconds of one query."""

from __future__ import annotations

import re
from typing import Any

from modeldyno.core.types import Status
from modeldyno.importers._document import Document
from modeldyno.importers._facts import as_text, said, scaled
from modeldyno.importers._sheet import Sheet

_TITLE = re.compile(r"^\s*MLPerf Results Summary\s*$", re.MULTILINE)
_LINE = re.compile(r"^[ \t]*([^:\n]+?)[ \t]*:[ \t]*(.*?)[ \t\r]*$", re.MULTILINE)
_MS_PER_NS = 1e-6
_LATENCIES = {
    "latency_ms": "50.00 percentile latency (ns)",
    "latency_mean_ms": "mean latency (ns)",
    "latency_min_ms": "min latency (ns)",
    "latency_max_ms": "max latency (ns)",
    "latency_p90_ms": "90.00 percentile latency (ns)",
    "latency_p95_ms": "95.00 percentile latency (ns)",
    "latency_p99_ms": "99.00 percentile latency (ns)",
    "first_token_ms": "50.00 percentile first token latency (ns)",
}
_HEADLINES = {
    "latency_p90_ms": "90th percentile latency (ns)",
    "latency_p95_ms": "95th percentile latency (ns)",
    "latency_p99_ms": "99th percentile latency (ns)",
}
_RATES = {
    "SingleStream": {"throughput_per_s": "qps w/o loadgen overhead", "tokens_per_s": "tps w/o loadgen overhead"},
    "MultiStream": {},
    "Server": {"throughput_per_s": "completed samples per second", "tokens_per_s": "completed tokens per second"},
    "Offline": {"throughput_per_s": "samples per second", "tokens_per_s": "tokens per second"},
}
_IN_FLIGHT = {"SingleStream": 1, "MultiStream": 1}
_ASK = "add --set {0}=... for what the summary does not say: it names no {0}, only the system under test"


class Mlperf:
    name = "mlperf"
    about = "MLPerf LoadGen: mlperf_log_summary.txt, with --set model=... --set platform=..."

    def recognises(self, document: Document) -> bool:
        return bool(_TITLE.search(document.text))

    def read(self, document: Document, sheet: Sheet) -> None:
        facts = _facts(document.text)
        scenario = facts.get("scenario", "").replace(" ", "")
        if problem := _problem(sheet, facts, scenario):
            sheet.reject("summary", problem)
            return
        status, reason = _outcome(facts, document.text)
        sheet.record(
            "summary",
            run=sheet.run(name=as_text(facts.get("sut name"))),
            in_flight=_IN_FLIGHT.get(scenario),
            model=said(sheet, "model"),
            platform=said(sheet, "platform"),
            runtime=said(sheet, "runtime"),
            precision=said(sheet, "precision"),
            batch=_batch(sheet, facts, scenario),
            device=said(sheet, "device"),
            options={"scenario": scenario},
            status=status,
            reason=reason,
            metrics=_metrics(facts, scenario),
        )


def _facts(summary: str) -> dict[str, str]:
    """The lines `name : value`; the first of a name counts, for the headline stands before the details.

    The headline's percentile is `90th` in some releases, `90.0th` in others."""
    facts: dict[str, str] = {}
    for name, value in _LINE.findall(summary):
        facts.setdefault(name.lower().replace(".0th", "th"), value)
    return facts


def _problem(sheet: Sheet, facts: dict[str, str], scenario: str) -> str | None:
    if scenario not in _RATES:
        return f"has the scenario '{scenario}', which is none of {', '.join(_RATES)}"
    if "accuracy" in facts.get("mode", "").lower():
        return "is of an accuracy run: it measures no speed"
    return next((_ASK.format(key) for key in ("model", "platform") if not said(sheet, key)), None)


def _outcome(facts: dict[str, str], summary: str) -> tuple[Status, str | None]:
    word = facts.get("result is", "").upper()
    if word == "VALID":
        return Status.OK, None
    missed = [
        line.split("satisfied")[0].strip() for line in summary.splitlines() if re.search(r"satisfied\s*: NO\b", line)
    ]
    return (
        Status.INVALID,
        f"LoadGen says {word or 'nothing of its validity'}{': missed ' if missed else ''}{', '.join(missed)}",
    )


def _batch(sheet: Sheet, facts: dict[str, str], scenario: str) -> Any:
    """A query is one sample, in MultiStream several; how many the system takes at once only the user knows."""
    if scenario == "MultiStream":
        return as_text(facts.get("samples_per_query")) or said(sheet, "batch") or 1
    return said(sheet, "batch") or 1 if scenario == "Offline" else 1


def _metrics(facts: dict[str, str], scenario: str) -> dict[str, Any]:
    """Offline has one query of all samples: its latencies are no times of a step."""
    rates: dict[str, Any] = {ours: facts.get(theirs) for ours, theirs in _RATES[scenario].items()}
    if scenario == "Offline":
        return rates
    found = {ours: scaled(facts.get(theirs), _MS_PER_NS) for ours, theirs in _LATENCIES.items()}
    for ours, theirs in _HEADLINES.items():
        if found[ours] is None:
            found[ours] = scaled(facts.get(theirs), _MS_PER_NS)
    return {**found, **rates}


MEMBER = Mlperf()
