"""Whether two records may be held against each other: what makes it wrong, and what has to be said with it.

Incomparable things refuse to mix (pyperf does so by metadata, conbench by its history fingerprint)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from modeldyno.analysis.roofline import HARDWARE
from modeldyno.core.types import Case, Host, ModelInfo, Provenance, Record, Status, Verdict

_UNSTATED = "unstated"
_SHOWN = 3
_FORMATS = {
    "float": "fp32",
    "float32": "fp32",
    "f32": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "f16": "fp16",
    "i8": "int8",
}
"""What the runtimes call the number formats."""


class By(StrEnum):
    """What two records may differ in, because that is the question."""

    PLATFORM = "platform"
    RUNTIME = "runtime"
    PRECISION = "precision"
    BATCH = "batch"
    MODEL = "model"
    RUN = "run"


@dataclass(frozen=True)
class Obstacle:
    """One difference that is not the question."""

    text: str
    refuses: bool
    """Whether the comparison would be wrong; else it is given with this label."""


Found = Iterator[Obstacle]


def obstacles(old: Record, new: Record, by: By) -> tuple[Obstacle, ...]:
    """All that stands between two records; none means that they differ in nothing but the question."""
    return tuple(obstacle for look in _LOOKS for obstacle in look(old, new, by))


def _status(old: Record, new: Record, _by: By) -> Found:
    for record in (old, new):
        if record.status is not Status.OK:
            yield Obstacle(f"{record.case.label} is {record.status.value}: {record.reason or 'no reason given'}", True)


def _provenance(old: Record, new: Record, _by: By) -> Found:
    kinds = {old.provenance, new.provenance}
    if kinds == {Provenance.MEASURED}:
        return
    mixed = Provenance.SIMULATED in kinds and len(kinds) > 1
    yield Obstacle(f"not measured here: {_versus(old.provenance.value, new.provenance.value)}", mixed)


def _workload(old: Record, new: Record, _by: By) -> Found:
    if old.case.workload != new.case.workload:
        yield Obstacle(f"the workloads differ: {_versus(old.case.workload, new.case.workload)}", True)


def _model(old: Record, new: Record, by: By) -> Found:
    if by is By.MODEL:
        if old.case.workload == HARDWARE and old.case.model != new.case.model:
            yield Obstacle(f"the probes do different things: {_versus(old.case.model, new.case.model)}", True)
        return
    if old.case.model.lower() != new.case.model.lower():
        yield Obstacle(f"the models differ: {_versus(old.case.model, new.case.model)}; use --by model", True)
    elif old.model and new.model and old.model.fingerprint != new.model.fingerprint:
        yield from _weights(old.model, new.model)


def _weights(old: ModelInfo, new: ModelInfo) -> Found:
    """Of equal size and with other weights the speed is usually the same; of another build it is not."""
    sizes = (old.parameters, new.parameters)
    if all(sizes) and sizes[0] != sizes[1]:
        yield Obstacle(f"the models differ: {_versus(*(f'{size:,} parameters' for size in sizes))}", True)
    elif _UNSTATED in (old.weights, new.weights):
        yield Obstacle("the weights are not stated, so the models may differ", False)
    elif old.weights != new.weights:
        yield Obstacle(f"the weights differ: {_versus(old.weights, new.weights)}", False)
    else:
        yield Obstacle("the models differ in configuration or weights (their fingerprints are not equal)", True)


def _inputs(old: Record, new: Record, by: By) -> Found:
    if by is not By.BATCH and old.case.batch != new.case.batch:
        yield Obstacle(f"the batches differ: {_versus(old.case.batch, new.case.batch)}; use --by batch", True)
    if old.case.shape == new.case.shape:
        return
    other_axes = by is By.MODEL and old.case.shape.keys() != new.case.shape.keys()
    yield Obstacle(f"the inputs differ: {_versus(shape_of(old.case), shape_of(new.case))}", not other_axes)


def _precision(old: Record, new: Record, by: By) -> Found:
    if by is By.PRECISION:
        return
    if old.case.precision != new.case.precision:
        text = f"the precisions differ: {_versus(old.case.precision, new.case.precision)}; use --by precision"
        yield Obstacle(text, True)
        return
    computed = [_FORMATS.get(name, name) for name in (_computed(old), _computed(new))]
    if all(computed) and computed[0] != computed[1]:
        yield Obstacle(f"the precision computed in differs: {_versus(*computed)}", True)


def _computed(record: Record) -> str:
    """The format the arithmetic really used, where a runtime tells it as one of those that can be asked for."""
    said = record.placement.compute_precision.lower() if record.placement else ""
    return said if said in _FORMATS or said in _FORMATS.values() else ""


def _options(old: Record, new: Record, _by: By) -> Found:
    if old.case.options != new.case.options:
        names = sorted({name for name, _ in old.case.options.items() ^ new.case.options.items()})
        yield Obstacle(f"the options differ: {', '.join(names)}", False)


def _device(old: Record, new: Record, by: By) -> Found:
    if not (old.device and new.device):
        yield Obstacle("the device is not known", False)
        return
    if old.device.emulated != new.device.emulated:
        yield Obstacle("one of the devices is emulated: its speed says nothing about hardware", True)
    elif old.device.emulated:
        yield Obstacle("both devices are emulated: their speed says nothing about hardware", False)
    if by is By.PLATFORM:
        return
    if old.device.fingerprint != new.device.fingerprint:
        yield Obstacle(f"the devices differ: {_versus(old.device.name, new.device.name)}", False)
    elif old.case.target != new.case.target:
        yield Obstacle(f"two devices of one kind: {_versus(old.case.target, new.case.target)}", False)


def _runtime(old: Record, new: Record, by: By) -> Found:
    if by is not By.RUNTIME and old.case.runtime != new.case.runtime:
        yield Obstacle(f"the runtimes differ: {_versus(old.case.runtime, new.case.runtime)}", False)


def _software(old: Record, new: Record, _by: By) -> Found:
    changed = [name for name in sorted(old.software.keys() & new.software) if old.software[name] != new.software[name]]
    if changed:
        shown = _shortened([f"{name} {_versus(old.software[name], new.software[name])}" for name in changed])
        yield Obstacle(f"other software: {shown}", False)


def _passport(old: Record, new: Record, _by: By) -> Found:
    for side, record in (("baseline", old), ("compared", new)):
        if record.passport is None:
            if record.provenance is Provenance.MEASURED:
                yield Obstacle(f"the {side} record has no passport", False)
        elif record.passport.verdict is not Verdict.VALID:
            names = _shortened([check.name for check in record.passport.concerns]) or "no check named"
            invalid = record.passport.verdict is Verdict.INVALID
            yield Obstacle(f"the {side} record's passport is {record.passport.verdict.value} ({names})", invalid)


_LOOKS: tuple[Callable[[Record, Record, By], Found], ...] = (
    _status,
    _provenance,
    _workload,
    _model,
    _inputs,
    _precision,
    _options,
    _device,
    _runtime,
    _software,
    _passport,
)


def other_host(old: Host | None, new: Host | None) -> Found:
    """Which hosts measured is known to the runs and not to their records."""
    if old and new and old.host_id != new.host_id:
        names = [host.hostname or host.host_id for host in (old, new)]
        yield Obstacle(f"on different hosts: {' against '.join(names)}", False)


def shape_of(case: Case) -> str:
    return " ".join(f"{axis} {size}" for axis, size in case.shape.items()) or "no sizes"


def _versus(old: object, new: object) -> str:
    return str(old) if old == new else f"{old} against {new}"


def _shortened(names: list[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return ", ".join(names[:_SHOWN]) + more
