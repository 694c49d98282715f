"""The plan of a run: which cases can run here, grouped so that each group loads its model once."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from modeldyno.core.types import Case, Outcome, Probe, Status
from modeldyno.platforms import PLATFORMS


@dataclass(frozen=True)
class Plan:
    """What will run and what is known beforehand not to."""

    groups: tuple[tuple[Case, ...], ...]
    skipped: tuple[tuple[Case, Outcome], ...]

    @property
    def runnable(self) -> int:
        return sum(map(len, self.groups))


def make_plan(cases: Iterable[Case]) -> Plan:
    """Ask the platforms what is possible, then group what can share a loaded model."""
    probes: dict[str, Probe] = {}
    groups: dict[tuple[object, ...], list[Case]] = {}
    skipped: list[tuple[Case, Outcome]] = []
    for case in cases:
        if case.platform not in probes:
            probes[case.platform] = PLATFORMS.get(case.platform).probe()
        obstacle = _obstacle(case, probes[case.platform])
        if obstacle:
            skipped.append((case, obstacle))
        else:
            groups.setdefault(_group_key(case), []).append(case)
    return Plan(tuple(tuple(group) for group in groups.values()), tuple(skipped))


def _obstacle(case: Case, probe: Probe) -> Outcome | None:
    """Why the case cannot run here, as far as that is known without trying."""
    if not probe.present:
        return _skip(probe.reason or "no device found", probe.remedy)
    if case.index >= len(probe.devices):
        count = len(probe.devices)
        return _skip(f"{case.target} is not here: {case.platform} has {count} device(s)", "see dyno detect")
    reason = PLATFORMS.get(case.platform).refuses(case)
    return _skip(reason, None) if reason else None


def _skip(reason: str, remedy: str | None) -> Outcome:
    return Outcome(status=Status.SKIPPED, reason=reason, remedy=remedy)


def _group_key(case: Case) -> tuple[object, ...]:
    options = tuple(sorted(case.options.items()))
    return (case.workload, case.model, case.weights, case.target, case.runtime, case.precision, options)
