"""Turns what the worker processes said of one case into its record."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from statistics import fmean, median

from modeldyno.core.metrics import METRICS
from modeldyno.core.types import (
    Case,
    Check,
    MetricValue,
    Outcome,
    Passport,
    Record,
    Samples,
    Status,
    Verdict,
)
from modeldyno.measure import statistics
from modeldyno.measure.statistics import Interval

PROCESS_SPREAD = 0.10
_RANKS = (90, 95, 99)
Metrics = dict[str, MetricValue]


def assemble(
    run_id: str, case: Case, outcomes: Sequence[Outcome], started_at: datetime, duration_s: float, processes: int = 1
) -> Record:
    """One record: the samples of all processes, of which there should be so many, and the metrics that follow."""
    last = _decisive(outcomes)
    samples = tuple(outcome.samples for outcome in outcomes if outcome.samples)
    passports = [outcome.passport for outcome in outcomes if outcome.passport]
    return Record(
        run_id=run_id,
        case=case,
        status=last.status,
        reason=_reason(last, outcomes),
        remedy=last.remedy,
        started_at=started_at,
        duration_s=round(duration_s, 3),
        device=last.device,
        model=last.model,
        placement=last.placement,
        check=last.check,
        passport=_passport(passports, samples, processes) if passports else None,
        metrics=_metrics(case, outcomes, samples) if last.status is Status.OK else {},
        samples=samples,
        profile=last.profile,
        software=last.software,
        log=_log(last, outcomes),
    )


def _decisive(outcomes: Sequence[Outcome]) -> Outcome:
    """The first outcome that is not ok decides; else the first."""
    return next((outcome for outcome in outcomes if outcome.status is not Status.OK), outcomes[0])


def _reason(decisive: Outcome, outcomes: Sequence[Outcome]) -> str | None:
    good = sum(outcome.status is Status.OK for outcome in outcomes)
    if decisive.reason and good:
        return f"{decisive.reason} (after {good} good process{'es' if good > 1 else ''})"
    return decisive.reason


def _log(decisive: Outcome, outcomes: Sequence[Outcome]) -> str | None:
    """What each process wrote; of a case that did not go well, what the decisive one did."""
    logs = [outcome.log for outcome in outcomes if outcome.log]
    if decisive.status is not Status.OK or len(logs) < 2:
        return decisive.log
    return "\n".join(f"process {number}:\n{log}" for number, log in enumerate(logs))


def _metrics(case: Case, outcomes: Sequence[Outcome], samples: Sequence[Samples]) -> Metrics:
    """What follows from the samples; what a workload gives itself comes first."""
    given = _over_processes(outcomes)
    return _part_metrics(samples) | _step_metrics(case, given, [s for s in samples if s.host_ms]) | given


def _step_metrics(case: Case, given: Mapping[str, MetricValue], samples: Sequence[Samples]) -> Metrics:
    """What follows from the times of whole steps."""
    if not samples:
        return {}
    latency = statistics.grouped_median_interval([s.host_ms for s in samples])
    pooled = [value for s in samples for value in s.host_ms]
    together = max(s.steps_per_sample for s in samples)
    metrics = {
        "latency_ms": _value(latency, len(pooled)),
        "latency_mean_ms": MetricValue(value=fmean(fmean(s.host_ms) for s in samples), n=len(pooled)),
        **{f"latency_p{rank}_ms": _percentile(pooled, rank, together) for rank in _RANKS},
    }
    metrics |= _device_metrics(samples, given, latency)
    return metrics | _work_metrics(case, given, latency, len(pooled))


def _part_metrics(samples: Sequence[Samples]) -> Metrics:
    """Medians of what else was read in the steps, and percentiles where the metric table has them."""
    metrics: Metrics = {}
    for name in dict.fromkeys(name for s in samples for name in s.parts):
        groups = [s.parts[name] for s in samples if s.parts.get(name)]
        if name not in METRICS or not groups:
            continue
        pooled = [value for group in groups for value in group]
        metrics[name] = _value(statistics.grouped_median_interval(groups), len(pooled))
        ranks = {rank: f"{name.removesuffix('_ms')}_p{rank}_ms" for rank in _RANKS}
        metrics |= {of: _percentile(pooled, rank, 1) for rank, of in ranks.items() if of in METRICS}
    return metrics


def _work_metrics(case: Case, given: Mapping[str, MetricValue], latency: Interval, n: int) -> Metrics:
    """How fast the counted work of a step was done."""
    items = given["items"].value if "items" in given else None
    metrics = {"throughput_per_s": _value(_rate((items or case.batch) * 1e3, latency), n)}
    if tokens := given.get("tokens"):
        metrics["tokens_per_s"] = _value(_rate((tokens.value or 0.0) * 1e3, latency), n)
    if flop := given.get("compute_gflop"):
        metrics["compute_rate_gflops"] = _value(_rate((flop.value or 0.0) * 1e3, latency), n)
    elif moved := given.get("moved_gb"):  # beside operations the bytes are a lower bound and make no rate
        metrics["bandwidth_gb_per_s"] = _value(_rate((moved.value or 0.0) * 1e3, latency), n)
    if (started := given.get("launches")) and started.value:
        each = started.value / 1e3
        metrics["launch_us"] = _value(Interval(latency.value / each, latency.low / each, latency.high / each), n)
    return metrics


def _device_metrics(samples: Sequence[Samples], given: Mapping[str, MetricValue], latency: Interval) -> Metrics:
    """Device times from the laps behind a guard, else as the process gave them, and the gap to the host's time."""
    metrics: Metrics = {}
    for name, columns in (
        ("device_time_ms", [s.device_ms for s in samples if s.device_ms]),
        ("device_time_cold_ms", [s.device_cold_ms for s in samples if s.device_cold_ms]),
    ):
        if columns:
            metrics[name] = _value(statistics.grouped_median_interval(columns), sum(map(len, columns)))
    device = metrics.get("device_time_ms") or given.get("device_time_ms")
    if device and device.value is not None:
        metrics["launch_gap_ms"] = MetricValue(value=latency.value - device.value)
    return metrics


def _over_processes(outcomes: Sequence[Outcome]) -> Metrics:
    """Metrics that each process gives once: the median, with the range as interval when there are several."""
    names = dict.fromkeys(name for outcome in outcomes for name in outcome.metrics)
    merged = {}
    for name in names:
        given = [outcome.metrics[name] for outcome in outcomes if name in outcome.metrics]
        values = [metric.value for metric in given if metric.value is not None]
        if len(values) < 2:
            merged[name] = given[0]
            continue
        note = "; ".join(filter(None, [given[0].note, f"range over {len(values)} processes"]))
        merged[name] = MetricValue(value=median(values), low=min(values), high=max(values), n=len(values), note=note)
    return merged


def _percentile(pooled: Sequence[float], rank: int, together: int) -> MetricValue:
    if together > 1:
        return MetricValue(value=None, note=f"a step is too short: {together} are timed together")
    value = statistics.percentile(pooled, rank)
    needed = statistics.PERCENTILE_SAMPLES[rank]
    note = None if value is not None else f"needs {needed} samples, has {len(pooled)}"
    return MetricValue(value=value, n=len(pooled), note=note)


def _value(interval: Interval, n: int) -> MetricValue:
    if n < statistics.FEWEST_FOR_INTERVAL:
        return MetricValue(value=interval.value, n=n, note=f"no interval from {n} samples")
    return MetricValue(value=interval.value, low=interval.low, high=interval.high, n=n)


def _rate(amount: float, time: Interval) -> Interval:
    return Interval(amount / time.value, amount / time.high, amount / time.low)


def _passport(passports: Sequence[Passport], samples: Sequence[Samples], processes: int) -> Passport:
    """Each check at its worst over the processes, and how far the processes agree among themselves."""
    order = (Verdict.VALID, Verdict.AMBIGUOUS, Verdict.INVALID)
    worst: dict[str, Check] = {}
    for check in (check for passport in passports for check in passport.checks):
        known = worst.get(check.name)
        if known is None or order.index(check.verdict) > order.index(known.verdict):
            worst[check.name] = check
    worst["processes"] = _enough_processes(len(samples), processes)
    medians = [median(s.host_ms) for s in samples if s.host_ms]
    if len(medians) > 1:
        worst["process_spread"] = _process_spread(medians)
    return Passport.of(tuple(worst.values()))


def _enough_processes(measured: int, wanted: int) -> Check:
    if measured >= wanted:
        return Check(name="processes", value=measured, limit=wanted)
    advice = "the run was interrupted: measure this case again"
    return Check(name="processes", value=measured, limit=wanted, verdict=Verdict.AMBIGUOUS, advice=advice)


def _process_spread(medians: Sequence[float]) -> Check:
    value = (max(medians) - min(medians)) / median(medians)
    good = value <= PROCESS_SPREAD
    return Check(
        name="process_spread",
        value=round(value, 4),
        limit=PROCESS_SPREAD,
        verdict=Verdict.VALID if good else Verdict.AMBIGUOUS,
        advice=None if good else "processes disagree: use --publish for more of them",
    )
