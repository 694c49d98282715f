"""A suite of one case at a few batch sizes, for `dyno run`."""

from __future__ import annotations

from dataclasses import dataclass

from modeldyno.advise.generate.quote import fill, plain, read_template, yaml_text
from modeldyno.advise.generate.wanted import Subject
from modeldyno.core.types import Provenance, Status
from modeldyno.store.query import Filter
from modeldyno.store.store import Store

_USUAL = (1, 4, 16)


@dataclass(frozen=True)
class Batches:
    """Sizes to measure, and those that are known not to work, with the reason."""

    sizes: tuple[int, ...]
    failed: dict[int, str]


def batches(subject: Subject, store: Store | None) -> Batches:
    """The one asked for is always among them."""
    wanted = sorted({*_USUAL, subject.case.batch})
    failed = _failed(subject, store, wanted) if store and store.path.exists() else {}
    failed.pop(subject.case.batch, None)
    return Batches(tuple(size for size in wanted if size not in failed), failed)


def _failed(subject: Subject, store: Store, sizes: list[int]) -> dict[int, str]:
    """By batch size, why the newest attempt at it on this platform failed."""
    case = subject.case
    chosen = Filter(
        model=subject.names,
        workload=(case.workload,),
        platform=(case.platform,),
        runtime=(case.runtime,),
        precision=(case.precision,),
        batch=tuple(sizes),
        provenance=tuple(one for one in Provenance if one.is_real),
    )
    newest = {}
    for record in sorted(store.newest_records(chosen), key=lambda one: one.started_at):
        if record.case.shape == case.shape and record.status is not Status.SKIPPED:
            newest[record.case.batch] = record
    failed = {size: one for size, one in newest.items() if one.status is Status.FAILED}
    return {size: one.reason or "no reason is known" for size, one in failed.items()}


def notes(found: Batches) -> tuple[str, ...]:
    return tuple(f"Batch {size} is left out, for it failed: {reason}." for size, reason in found.failed.items())


def name(subject: Subject) -> str:
    return f"suite_{subject.slug}.yaml"


def render(subject: Subject, found: Batches) -> str:
    case = subject.case
    sizes = "".join(f"\n  {yaml_text(axis)}: [{size}]" for axis, size in case.shape.items())
    values = {
        "TITLE": subject.title,
        "FILE": name(subject),
        "NAME": yaml_text(subject.slug),
        "MODEL": yaml_text(case.model),
        "ON": yaml_text(case.target),
        "RUNTIME": yaml_text(subject.runtime_word),
        "WORKLOAD": yaml_text(case.workload),
        "PRECISION": yaml_text(str(case.precision)),
        "BATCH": ", ".join(map(str, found.sizes)),
        "SHAPE": f"shape:{sizes}" if sizes else "shape: {}",
        "LEFT": "".join(f"\n# Left out: batch {size}, {plain(why)[:80]}" for size, why in found.failed.items()),
    }
    return fill(read_template("suite.yaml.txt"), values)
