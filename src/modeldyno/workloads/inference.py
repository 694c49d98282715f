"""Inference: one forward pass of the model, for every architecture."""

from __future__ import annotations

import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version

from modeldyno import models
from modeldyno.core.decoding import Decoder, DecodingSource
from modeldyno.core.protocols import Bench, Loaded, Profiles, Source, TimesItself
from modeldyno.core.types import (
    KERNEL,
    Case,
    MetricValue,
    Outcome,
    OutputCheck,
    Passport,
    ProfileRow,
    Status,
)
from modeldyno.measure.energy import energy_pass
from modeldyno.measure.memory import memory_pass
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._extra_work import EXTRA_WORK, with_extra_work
from modeldyno.workloads._judged import judged
from modeldyno.workloads._outputs import check_outputs
from modeldyno.workloads._placement import fallback_check, proven
from modeldyno.workloads._sampled import sampled


class Inference:
    """Load, first step, check, steady samples, memory, energy, profile: in this order, each apart."""

    name = "inference"
    options = frozenset({EXTRA_WORK})

    def prepare(self, case: Case, note: Callable[[str], None]) -> Outcome:
        """What can be made once and kept: the reference, and what the runtime wants from the exporter."""
        note("preparing")
        begin = time.perf_counter()
        source = source_of(case)
        source.reference()
        source.rounding(case.precision)
        RUNTIMES.get(case.runtime).prepare(source, case.precision)
        elapsed = MetricValue(value=(time.perf_counter() - begin) * 1e3)
        return Outcome(status=Status.OK, metrics={"prepare_ms": elapsed})

    def run(self, bench: Bench) -> Outcome:
        case, runtime = bench.case, RUNTIMES.get(bench.case.runtime)
        runtime.check(bench.session, case.precision)
        source = source_of(case)
        bench.note("loading")
        loaded = runtime.load(source, bench.session, case)
        first_ms = bench.session.lap(loaded.step, 1).host_ns / 1e6
        rounding = source.rounding(case.precision)
        check = check_outputs(loaded.outputs(), source.reference(), case.precision, rounding)
        if not check.passed:
            return wrong_outputs(bench, source, loaded, check)
        bench.note("measuring")
        keeper = loaded if isinstance(loaded, TimesItself) else None
        samples, trust = sampled(bench, with_extra_work(bench, loaded), keeper)
        bench.note("memory, energy where asked, profile")
        metrics = self._metrics(bench, source, loaded, first_ms, check)
        # Proof and profile come last: some runtimes load the model a second time for them.
        placement = proven(loaded.placement(), case.precision)
        profile = loaded.profile() if bench.policy.profile and isinstance(loaded, Profiles) else ()
        if not samples.device_ms:
            metrics |= _device_time(profile)
        trust = Passport.of((*trust.checks, fallback_check(placement)))
        return judged(
            trust,
            device=bench.session.device,
            model=source.info,
            placement=placement,
            check=check,
            metrics=metrics,
            samples=samples,
            profile=profile,
            software=versions(runtime.packages()),
        )

    def _metrics(
        self, bench: Bench, source: Source, loaded: Loaded, first_ms: float, check: OutputCheck
    ) -> dict[str, MetricValue]:
        warm = None if bench.fresh else "first of this shape; the process had run other shapes before"
        metrics = {
            "load_ms": MetricValue(value=loaded.load_ms),
            "first_ms": MetricValue(value=first_ms, note=warm),
            "error_rel_l2": MetricValue(value=check.rel_l2, n=check.compared),
        }
        if source.build_ms:
            metrics["build_ms"] = MetricValue(value=source.build_ms)
        if source.info.gflop is not None:
            metrics["compute_gflop"] = MetricValue(value=source.info.gflop)
        metrics |= memory_pass(bench.session, loaded.step, bench.policy)
        return metrics | energy_pass(bench.session, loaded.step, bench.policy)


def wrong_outputs(
    bench: Bench, source: Source | DecodingSource, loaded: Loaded | Decoder, check: OutputCheck
) -> Outcome:
    error = (
        "missing, of another size or not finite"
        if check.rel_l2 is None
        else f"off by {check.rel_l2:.2g} (limit {check.tolerance:g})"
    )
    return Outcome(
        status=Status.INVALID,
        reason=f"output '{check.worst_output}' is {error} against {check.reference}",
        remedy="use another precision or runtime for this model",
        device=bench.session.device,
        model=source.info,
        placement=loaded.placement(),
        check=check,
        software=versions(RUNTIMES.get(bench.case.runtime).packages()),
    )


def source_of(case: Case) -> Source:
    return models.prepare(models.resolve(case.model), case.batch, case.shape, case.weights)


def _device_time(profile: tuple[ProfileRow, ...]) -> dict[str, MetricValue]:
    """A step that waits for the device itself cannot be timed behind a guard; its kernels can be added up."""
    kernels = [row for row in profile if row.kind == KERNEL]
    if not kernels:
        return {}
    total = kernels[0].time_ms / kernels[0].share
    return {"device_time_ms": MetricValue(value=total, note="sum of the kernels in the profile")}


def versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


MEMBER = Inference()
