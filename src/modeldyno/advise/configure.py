"""How to run a model on one platform: each setting with the measurement that it rests on."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from modeldyno.advise._known import Work, chosen_work
from modeldyno.advise._settings import Setting, settings_of
from modeldyno.advise.candidates import Candidate, Market, Way, measured, nearest
from modeldyno.advise.wishes import Goal, Wishes
from modeldyno.analysis.scaling import KNEE_GAIN, knee_of
from modeldyno.core.types import Case, Device, Record

INFERENCE, POOL = "inference", "pool"


@dataclass(frozen=True)
class Demand:
    """What is to be configured."""

    model: str
    platform: str
    index: int = 0
    wishes: Wishes = field(default_factory=Wishes)
    runtimes: tuple[str, ...] = ()
    """Only these; none means any."""
    precisions: tuple[str, ...] = ()
    shape: Mapping[str, int] = field(default_factory=dict, hash=False)

    @property
    def by_latency(self) -> bool:
        """Whether a limit on the time says how large a batch may be."""
        return any(limit.unit == "ms" for limit in self.wishes.limits)


@dataclass(frozen=True)
class Configuration:
    """The answer: a way that was measured, and what speaks for each of its settings."""

    demand: Demand
    work: Work
    device: str
    tried: tuple[Candidate, ...]
    """Every way that was measured there, fastest first."""
    chosen: Candidate | None
    """None where nothing was measured, or nothing keeps the limits."""
    settings: tuple[Setting, ...] = ()

    @property
    def case(self) -> Case:
        assert self.chosen is not None
        assert self.chosen.record is not None
        return self.chosen.record.case

    @property
    def undecided(self) -> tuple[Candidate, ...]:
        """Ways of which it is not known whether they keep the limits."""
        return tuple(one for one in self.tried if one.holds is None)

    @property
    def nearest(self) -> Candidate | None:
        """Where nothing keeps the limits: the one that misses them by least."""
        return nearest(self.tried)


def configure(
    demand: Demand, records: Iterable[Record], here: Sequence[Device], axes: Mapping[str, int]
) -> Configuration:
    """From records of the workloads inference and pool on this platform."""
    there = [record for record in records if record.case.platform == demand.platform]
    device = _device(demand, there, here)
    fitting = [
        record for record in there if record.device and record.device.name == device and _is_asked(demand, record)
    ]
    work, usable = chosen_work(fitting, INFERENCE, demand.shape, axes)
    tried = measured(usable, Wishes(Goal.THROUGHPUT, demand.wishes.limits), Market())
    tried.sort(key=lambda one: -(one.figure.value or 0.0))
    chosen = _chosen(demand, tried)
    pools = [record for record in fitting if record.case.workload == POOL]
    settings = settings_of(chosen, tried, pools, work) if chosen else ()
    return Configuration(demand, work, device, tuple(tried), chosen, settings)


def _device(demand: Demand, records: Sequence[Record], here: Sequence[Device]) -> str:
    """The one that is here; else the one that most was measured on."""
    found = [device.name for device in here if device.platform == demand.platform and device.index == demand.index]
    named = Counter(record.device.name for record in records if record.device)
    return next(iter([*found, *(name for name, _ in named.most_common(1))]), demand.platform)


def _is_asked(demand: Demand, record: Record) -> bool:
    runtime = not demand.runtimes or record.case.runtime in demand.runtimes
    return runtime and (not demand.precisions or record.case.precision in demand.precisions)


def _chosen(demand: Demand, tried: Sequence[Candidate]) -> Candidate | None:
    """Of each runtime, precision and options the batch that suits; of these the one that does most per second."""
    groups: dict[tuple[str, ...], list[Candidate]] = {}
    for one in tried:
        if one.holds and one.is_known:
            groups.setdefault(_apart_from_batch(one.way), []).append(one)
    picks = [_batch(demand, group) for group in groups.values()]
    return max(picks, key=lambda one: one.figure.value or 0.0, default=None)


def _apart_from_batch(way: Way) -> tuple[str, ...]:
    return way.runtime, way.precision, way.settings


def _batch(demand: Demand, group: Sequence[Candidate]) -> Candidate:
    """The largest that keeps the limits, unless a smaller one does clearly more per second; without a limit on the
    time, no larger than it pays to double it."""
    if demand.by_latency:
        enough = (1 - KNEE_GAIN) * max(one.figure.value or 0.0 for one in group)
        return max((one for one in group if (one.figure.value or 0.0) >= enough), key=lambda one: one.way.batch)
    sizes = {one.way.batch: one for one in sorted(group, key=lambda one: one.way.batch)}
    return sizes[knee_of({size: one.figure.value or 0.0 for size, one in sizes.items()})]
