"""Reports of gates, for the tests of what is told of them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from modeldyno.ci.report import CaseVerdict, ControlResult, GateReport, Ratio
from modeldyno.core.types import Host


def verdict(case: str = "bert · cpu:0", change: str = "same", ratio: float = 1.0, **more: Any) -> CaseVerdict:
    """One line of a report; the interval is one percent to each side."""
    facts = {
        "case": case,
        "case_key": f"key of {case}",
        "metric": "latency_ms",
        "baseline": 10.0,
        "candidate": 10.0 * ratio,
        "ratio": Ratio(value=ratio, low=ratio * 0.99, high=ratio * 1.01),
        "margin": 0.02,
        "change": change,
    }
    return CaseVerdict.model_validate({**facts, **more})


def slower(case: str = "bert · cpu:0", ratio: float = 1.05, **more: Any) -> CaseVerdict:
    """A confirmed regression."""
    return verdict(case, "worse", ratio, **{"regression": True, "confirmed": True, **more})


def gate_report(*cases: CaseVerdict, **more: Any) -> GateReport:
    """What a gate wrote; the verdict follows from the cases unless given."""
    changes = {case.change.value for case in cases}
    judged = "regression" if any(case.regression for case in cases) else "undecided" if "ambiguous" in changes else "ok"
    facts = {
        "kind": "ab",
        "baseline": "abc1234",
        "candidate": "def5678",
        "host": Host(host_id="h", hostname="runner-7", cpu="Fast CPU", logical_cores=8, system="Linux"),
        "verdict": judged,
        "started_at": datetime(2026, 11, 15, 3, 17, tzinfo=UTC),
        "duration_s": 725.0,
        "blocks": 7,
        "control": ControlResult(noise=0.013, widened=False),
        "cases": cases,
        "command": "dyno gate suites/default.yaml --a commit=abc1234 --b commit=def5678",
    }
    return GateReport.model_validate({**facts, **more})
