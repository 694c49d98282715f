"""What limits a step: it is held against the peaks that the same device reached in the hardware workload.

The roofline of Williams, Waterman and Patterson ("Roofline: an insightful visual performance model for multicore
architectures", Communications of the ACM 52(4), 2009): a step takes at least its operations over the matrix rate, and
at least its bytes over the memory bandwidth. A third ceiling is added for devices that are fed operation by operation:
the operations started times what starting one takes."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from modeldyno.core.types import KERNEL, Case, Precision, ProfileRow, Provenance, Record, Status, Verdict

HARDWARE = "hardware"
"""The workload whose records hold the peaks."""
ONE_WAY = ("read", "write")
"""Probes that move values between memory and device in one direction only."""
EXPLAINS = 0.5
"""A ceiling that alone takes this share of the step is called its bound."""
READING_EXPLAINS = 0.75
"""The same for parameters that are read. On a processor a copy first fetches each line that it then writes (McCalpin,
"STREAM", 1995), which its rate leaves out: reading alone may be 1.5 times as fast, so half of that is asked for."""
BUSY = 0.8
"""A device that works for this share of the step hides the launches."""
IMPLAUSIBLE = 1.5
"""Bytes that would take so many times the step cannot all have come from memory."""
ABOVE_PEAK = 1.15
"""A step so much faster than the peak shows that the peak is wrong."""
UNKNOWN_CACHE_MB = 256.0
"""Larger than the last-level cache of most devices, for those that do not tell."""
SENSIBLE = (1e-9, 1e15)
"""No measurement lies outside of it, in the units used here; what does is taken for missing."""
NO_STEP_TIME = "there is no step time"
TABLELESS = ("vision", "audio")
"""Families whose models look nothing up in tables of embeddings."""
_BYTES: dict[str, int] = {Precision.FP32: 4, Precision.BF16: 2, Precision.FP16: 2, Precision.INT8: 1}


class Bound(StrEnum):
    """What limits a step; `NONE` says that nothing looked at explains it, `UNKNOWN` that too little is known to say."""

    COMPUTE = "compute"
    MEMORY = "memory"
    LAUNCH = "launch"
    NONE = "none"
    UNKNOWN = "unknown"


_METRICS = {Bound.COMPUTE: "compute_rate_gflops", Bound.MEMORY: "bandwidth_gb_per_s", Bound.LAUNCH: "launch_us"}


@dataclass(frozen=True)
class Peak:
    """The best of a device in one respect, over the sizes that were measured."""

    value: float
    record: Record

    @property
    def trusted(self) -> bool:
        return self.record.passport is not None and self.record.passport.verdict is Verdict.VALID


@dataclass(frozen=True)
class Peaks:
    """What a device can do, as far as it was measured."""

    compute: Peak | None = None
    """GFLOP/s in the precision of the record."""
    memory: Peak | None = None
    """GB/s."""
    launch: Peak | None = None
    """Microseconds."""
    cache_mb: float | None = None
    """The last-level cache; None where the device does not tell."""


@dataclass(frozen=True)
class Ceiling:
    """One thing that may limit the step."""

    bound: Bound
    share: float | None
    """Of the step that this alone takes; None where it does not apply or is not known."""
    achieved: float | None = None
    peak: Peak | None = None
    remark: str | None = None
    """What the number rests on, or why there is none."""
    unknown: bool = False
    """Whether it may limit the step for all that is known."""
    shown: bool = True
    """False where the share is estimated, and might be too small to explain the step."""

    @property
    def metric(self) -> str:
        """What is achieved, and has the peak."""
        return _METRICS[self.bound]

    @property
    def explains(self) -> bool:
        return self.share is not None and self.share >= EXPLAINS

    @property
    def above_peak(self) -> bool:
        """Whether the peak cannot be right."""
        return self.unknown and self.share is not None


@dataclass(frozen=True)
class Roofline:
    """A record held against the peaks of its device."""

    bound: Bound
    because: str
    compute: Ceiling
    memory: Ceiling
    launch: Ceiling
    intensity: float | None
    """Operations per byte; at most that where the bytes are a lower bound."""
    attainable_gflops: float | None
    """The roofline at this intensity."""
    share: float | None
    """Of the roofline that the step reached; None where a peak or a count is missing."""
    idle_share: float | None
    """Of the step in which the device had nothing to do, where it is told apart from the host."""

    @property
    def ceilings(self) -> tuple[Ceiling, ...]:
        return self.compute, self.memory, self.launch


def find_peaks(records: Iterable[Record], explained: Record) -> Peaks:
    """The peaks of the same hardware from the newest records of each probe and size.

    A record is never held against its own series: that would only say that it is as fast as itself."""
    newest: dict[str, Record] = {}
    for record in sorted(records, key=lambda record: record.record_id):
        if _is_peak(record) and _same_hardware(record, explained) and record.series_id != explained.series_id:
            newest[record.series_id] = record
    found = list(newest.values())
    in_precision = [record for record in found if record.case.precision == explained.case.precision]
    moves = [record for record in found if record.case.model == _way(explained.case) and beyond_cache(record)]
    return Peaks(
        compute=_best([record for record in in_precision if record.case.model == "matmul"], "compute_rate_gflops"),
        memory=_best(moves, "bandwidth_gb_per_s"),
        launch=_best([record for record in found if record.case.model == "launch"], "launch_us", least=True),
        cache_mb=next(filter(None, map(_cache_mb, reversed(found))), None),
    )


def _way(case: Case) -> str:
    """The probe that tells the bandwidth: a copy, for a step reads and writes; reading alone has reading for a peak."""
    return case.model if case.workload == HARDWARE and case.model in ONE_WAY else "copy"


def _is_peak(record: Record) -> bool:
    return (
        record.case.workload == HARDWARE
        and record.status is Status.OK
        and record.provenance is Provenance.MEASURED
        and not record.case.options
    )


def _same_hardware(a: Record, b: Record) -> bool:
    return a.device is not None and b.device is not None and a.device.fingerprint == b.device.fingerprint


def beyond_cache(record: Record) -> bool:
    """Whether nothing says that the cache answered for the memory."""
    concerns = record.passport.concerns if record.passport else ()
    return all(check.name != "beyond_cache" for check in concerns)


def _cache_mb(record: Record) -> float | None:
    told = record.placement.details.get("last_level_cache_mb") if record.placement else None
    return float(told) if isinstance(told, int | float) and told > 0 else None


def _best(records: Iterable[Record], metric: str, least: bool = False) -> Peak | None:
    peaks = [Peak(value, record) for record in records if (value := _positive(record, metric)) is not None]
    choose = min if least else max
    return choose(peaks, key=lambda peak: peak.value) if peaks else None


def _positive(record: Record, metric: str) -> float | None:
    value = record.value(metric)
    low, high = SENSIBLE
    return value if value is not None and low < value < high else None


def hold_against(record: Record, peaks: Peaks) -> Roofline:
    """What limits the record's step, by the peaks of its device."""
    latency = _positive(record, "latency_ms")
    gflop = _operations(record)
    gigabytes = _bytes_moved(record, gflop)
    compute = _compute(gflop, latency, peaks.compute, record.case.precision)
    memory = _memory(gigabytes, latency, peaks)
    idle = _idle(record, latency)
    launch = _launch(record, latency, peaks.launch, idle)
    bound, because = _verdict(compute, memory, launch, idle)
    intensity = gflop / gigabytes.amount if gflop and gigabytes.amount else None
    return Roofline(
        bound=bound,
        because=because,
        compute=compute,
        memory=memory,
        launch=launch,
        intensity=intensity,
        attainable_gflops=_attainable(intensity, compute, memory) if gflop else None,
        share=None if compute.unknown or memory.unknown else max(compute.share or 0.0, memory.share or 0.0),
        idle_share=idle,
    )


@dataclass(frozen=True)
class _Moved:
    """Gigabytes that a step moves, and what that rests on."""

    amount: float | None
    remark: str
    least: float | None = None
    """What is left of an estimate where it may be too high; None where the amount is exact."""


def _states_its_work(record: Record) -> bool:
    """Probes say exactly what a step does; what they do not say it does not do."""
    return any(_positive(record, name) is not None for name in ("moved_gb", "launches"))


def _operations(record: Record) -> float | None:
    counted = _positive(record, "compute_gflop")
    return 0.0 if counted is None and _states_its_work(record) else counted


def _bytes_moved(record: Record, gflop: float | None) -> _Moved:
    if _states_its_work(record):
        return _Moved(_positive(record, "moved_gb") or 0.0, "each value once")
    model, width = record.model, _BYTES.get(record.case.precision)
    if record.case.workload != "inference" or model is None or not model.parameters or width is None:
        return _Moved(None, "the bytes that a step moves are not known")
    if model.architecture == "mixture-of-experts":
        return _Moved(None, "which experts a step reads is not known")
    remark = "estimated: each parameter once; activations come on top, embedding tables are read only in part"
    least = min(float(model.parameters), _multiplied(record, gflop))
    return _Moved(model.parameters * width / 1e9, remark, least * width / 1e9)


def _multiplied(record: Record, gflop: float | None) -> float:
    """About how many parameters take part in products: each takes two operations for each token that goes through.

    What is only looked up takes none. Where nothing is looked up all take part; without a length nobody knows."""
    if record.model and record.model.family in TABLELESS:
        return math.inf
    tokens = record.case.batch * record.case.shape.get("seq", 0)
    return (gflop or 0.0) * 1e9 / 2 / tokens if tokens > 0 else 0.0


def _compute(gflop: float | None, latency: float | None, peak: Peak | None, precision: str) -> Ceiling:
    if latency is None:
        return Ceiling(Bound.COMPUTE, None, peak=peak, remark=NO_STEP_TIME, unknown=True)
    if gflop is None:
        return Ceiling(Bound.COMPUTE, None, peak=peak, remark="its operations could not be counted", unknown=True)
    if gflop == 0:
        return Ceiling(Bound.COMPUTE, 0.0, peak=peak, remark="no operations worth counting")
    achieved = gflop / latency * 1e3
    if peak is None:
        return Ceiling(Bound.COMPUTE, None, achieved, remark=f"no matrix rate in {precision} measured", unknown=True)
    share = achieved / peak.value
    if share > ABOVE_PEAK:
        remark = f"it computes at {share:.0%} of the matrix rate: measure the peaks again, on a quiet host"
        return Ceiling(Bound.COMPUTE, share, achieved, peak, remark, unknown=True)
    return Ceiling(Bound.COMPUTE, share, achieved, peak)


def _memory(moved: _Moved, latency: float | None, peaks: Peaks) -> Ceiling:
    if latency is None or moved.amount is None:
        remark = NO_STEP_TIME if latency is None else moved.remark
        return Ceiling(Bound.MEMORY, None, peak=peaks.memory, remark=remark, unknown=True)
    if moved.amount == 0:
        return Ceiling(Bound.MEMORY, 0.0, peak=peaks.memory, remark="no bytes worth counting")
    achieved = moved.amount / latency * 1e3
    if peaks.memory is None:
        return Ceiling(Bound.MEMORY, None, achieved, remark="no memory bandwidth measured", unknown=True)
    return _memory_share(moved.amount, moved, achieved, peaks.memory, peaks.cache_mb or UNKNOWN_CACHE_MB)


def _memory_share(amount: float, moved: _Moved, achieved: float, peak: Peak, cache_mb: float) -> Ceiling:
    share, megabytes = achieved / peak.value, amount * 1e9 / 2**20
    if megabytes <= cache_mb:
        remark = f"its {megabytes:.3g} MB fit into a last-level cache of {cache_mb:.3g} MB"
        return Ceiling(Bound.MEMORY, None, achieved, peak, remark)
    if moved.least is None and share > ABOVE_PEAK:
        remark = f"it moves its bytes at {share:.0%} of the bandwidth: measure the peaks again, on a quiet host"
        return Ceiling(Bound.MEMORY, share, achieved, peak, remark, unknown=True)
    if share > IMPLAUSIBLE:
        remark = "more than memory can deliver: not all of it is read in each step"
        return Ceiling(Bound.MEMORY, None, achieved, peak, remark)
    shown = moved.least is None or share * moved.least / amount >= READING_EXPLAINS
    return Ceiling(Bound.MEMORY, share, achieved, peak, moved.remark, shown=shown)


def _idle(record: Record, latency: float | None) -> float | None:
    gap = record.value("launch_gap_ms")
    if gap is None or latency is None or not math.isfinite(gap):
        return None
    return min(1.0, max(0.0, gap / latency))


def _launch(record: Record, latency: float | None, peak: Peak | None, idle: float | None) -> Ceiling:
    """By the device's idle time where it is told, and by counting; a device that is kept busy hides the launches."""
    if latency is None:
        return Ceiling(Bound.LAUNCH, None, peak=peak, remark=NO_STEP_TIME, unknown=True)
    counted = _counted_launches(record, latency, peak)
    if idle is not None and 1 - idle >= BUSY:
        return Ceiling(Bound.LAUNCH, idle, peak=peak, remark=f"the device works for {1 - idle:.0%} of the step")
    if counted is None:
        remark = "operations started were not counted"
        if idle is None:
            return Ceiling(Bound.LAUNCH, None, peak=peak, remark=remark, unknown=True)
        return Ceiling(Bound.LAUNCH, idle, peak=peak, remark=f"the device waits for {idle:.0%} of the step")
    number, took_ms = counted
    share = min(1.0, took_ms / latency)
    remark = f"{number} operation{'s' if number > 1 else ''} started"
    return Ceiling(Bound.LAUNCH, max(share, idle or 0.0), latency / number * 1e3, peak, remark)


def _counted_launches(record: Record, latency: float, peak: Peak | None) -> tuple[int, float] | None:
    """How many operations a step starts, and the milliseconds that takes; None where it cannot be said."""
    if peak is None:
        return None
    stated = _positive(record, "launches")
    if stated is not None:
        return round(stated), stated * peak.value / 1e3
    if _states_its_work(record):
        return 1, peak.value / 1e3
    if record.case.runtime != peak.record.case.runtime:  # another runtime starts operations at another cost
        return None
    number = sum(row.calls for row in record.profile)
    if not number:
        return None
    return number, sum(_launch_ms(row, latency, peak.value / 1e3) for row in record.profile)


def _launch_ms(row: ProfileRow, latency: float, each_ms: float) -> float:
    """Kernels run behind the host and may be shorter than their launch; an operator of the host cannot."""
    launches = row.calls * each_ms
    return launches if row.kind == KERNEL else min(launches, row.share * latency)


def _attainable(intensity: float | None, compute: Ceiling, memory: Ceiling) -> float | None:
    """The lower of the two roofs; where the values stay in a cache only that of the matrix rate is there."""
    if compute.peak is None or compute.unknown or memory.unknown:
        return None
    if intensity is None or memory.share is None or memory.peak is None:
        return compute.peak.value
    return min(compute.peak.value, intensity * memory.peak.value)


def _verdict(compute: Ceiling, memory: Ceiling, launch: Ceiling, idle: float | None) -> tuple[Bound, str]:
    if idle is not None and idle >= EXPLAINS:
        return Bound.LAUNCH, f"the device waits for the host in {idle:.0%} of the step"
    missing = [ceiling.remark or "" for ceiling in (compute, memory) if ceiling.unknown]
    if missing:
        return Bound.UNKNOWN, "; ".join(dict.fromkeys(missing))
    largest = max((compute, memory, launch), key=lambda ceiling: ceiling.share or 0.0)
    if not largest.explains:
        busy = "" if idle is None else f"; the device itself works for {1 - idle:.0%} of it"
        return Bound.NONE, _nothing(compute, memory, launch) + busy
    if not largest.shown:
        return Bound.UNKNOWN, f"memory may limit it, but its {largest.share:.0%} are only {largest.remark}"
    return largest.bound, {
        Bound.COMPUTE: f"it computes at {largest.share:.0%} of the device's own matrix rate",
        Bound.MEMORY: f"it moves its bytes at {largest.share:.0%} of the device's own bandwidth ({memory.remark})",
        Bound.LAUNCH: f"{launch.remark}, which takes {largest.share:.0%} of the step",
    }[largest.bound]


def _nothing(*ceilings: Ceiling) -> str:
    parts = [f"{ceiling.bound.value} {ceiling.share:.0%}" for ceiling in ceilings if ceiling.share is not None]
    parts += [f"{ceiling.bound.value}: {ceiling.remark}" for ceiling in ceilings if ceiling.share is None]
    return f"no ceiling explains half of the step ({', '.join(parts)})"
