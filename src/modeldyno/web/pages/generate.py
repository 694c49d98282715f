"""Generate: a test, a suite, an inference script or a workflow for one cell of the matrix, to read, take and run."""

from __future__ import annotations

from typing import Any

from modeldyno.advise.generate import KINDS, Generated, Wanted, generate
from modeldyno.ci.workflow import Workflow
from modeldyno.core.types import Precision
from modeldyno.models import catalogue
from modeldyno.platforms import PLATFORMS, baseline
from modeldyno.web.jobs.order import check_model
from modeldyno.web.sheet import Ask, Page, Sheet
from modeldyno.workloads import WORKLOADS

ALL = (*KINDS, "workflow")


def make(ask: Ask) -> Sheet:
    model, kind = ask.one("model"), ask.choice("kind", ALL, "test")
    made = generated(ask, kind) if model or kind == "workflow" else None
    return Sheet(
        "Generate",
        {
            "kinds": ALL,
            "kind": kind,
            "model": model,
            "on": _platform(ask),
            "platforms": PLATFORMS.names(),
            "models": sorted({entry.name for entry in catalogue()}),
            "workloads": [name for name in WORKLOADS.names() if name != "hardware"],
            "workload": ask.one("workload", "inference"),
            "precisions": [one.value for one in Precision],
            "precision": ask.one("precision", "fp32"),
            "batch": ask.number("batch", 1, 65_536),
            "runtime": ask.one("runtime"),
            "runtimes": PLATFORMS.get(_platform(ask)).runtimes,
            "made": made,
            "is_here": any(probe.present for probe in ask.house.probes if probe.platform == _platform(ask)),
        },
        [{"name": made.name, "text": made.text}] if made else [],
    )


def generated(ask: Ask, kind: str) -> Generated:
    """Raises InputError for what cannot be meant."""
    if kind == "workflow":
        return Generated("workflow", "modeldyno.yml", Workflow().render())
    return generate(kind, wanted(ask), ask.snapshot.store)


def wanted(ask: Ask) -> Wanted:
    check_model(ask.one("model"))
    given: dict[str, Any] = {"runtime": ask.one("runtime") or None, "precision": ask.one("precision", "fp32")}
    platform, workload = _platform(ask), ask.one("workload", "inference")
    return Wanted(ask.one("model"), platform, workload, batch=ask.number("batch", 1, 65_536), **given)


def _platform(ask: Ask) -> str:
    return ask.choice("on", PLATFORMS.names(), baseline())


MEMBER = Page("/dashboard/generate", make, nav="Generate", place=10)
