"""Inference: one forward pass of the model, for every architecture."""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

from modeldyno import models
from modeldyno.core.protocols import Bench, Loaded, Profiles, ReportsState, Source, TimesItself
from modeldyno.core.types import MetricValue, Outcome, OutputCheck, Passport, Samples, Status
from modeldyno.measure import loop, passport
from modeldyno.measure.energy import energy_pass
from modeldyno.measure.host import snapshot
from modeldyno.measure.memory import memory_pass
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._outputs import check_outputs


class Inference:
    """Load, first step, check, steady samples, memory, energy, profile: in this order, each apart."""

    name = "inference"

    def run(self, bench: Bench) -> Outcome:
        case = bench.case
        bench.note("preparing")
        source = models.prepare(models.resolve(case.model), case.batch, case.shape, case.weights)
        check_before = source.reference() if bench.policy.check_outputs else None
        runtime = RUNTIMES.get(case.runtime)
        bench.note("loading")
        loaded = runtime.load(source, bench.session, case.precision, case)
        first_ms = bench.session.lap(loaded.step, 1).host_ns / 1e6
        check = check_outputs(loaded.outputs(), check_before, case.precision) if check_before else None
        if check and not check.passed:
            return self._invalid(bench, source, loaded, check)
        bench.note("measuring")
        samples, trust = self._sample(bench, loaded)
        bench.note("memory, energy, profile")
        metrics = self._metrics(bench, source, loaded, first_ms, check)
        profile = loaded.profile() if bench.policy.profile and isinstance(loaded, Profiles) else ()
        return Outcome(
            status=Status.INVALID if trust.verdict == "invalid" else Status.OK,
            reason="; ".join(c.advice or c.name for c in trust.concerns if c.verdict == "invalid") or None,
            device=bench.session.device,
            model=source.info,
            placement=loaded.placement(),
            check=check,
            passport=trust,
            metrics=metrics,
            samples=samples,
            profile=profile,
            software=_versions(runtime.packages()),
        )

    def _sample(self, bench: Bench, loaded: Loaded) -> tuple[Samples, Passport]:
        session = bench.session
        teller = session if isinstance(session, ReportsState) else None
        before, state_before = snapshot(), teller.state() if teller else {}
        if isinstance(loaded, TimesItself):
            samples = loaded.sample(bench.policy)
        else:
            samples = loop.sample(session, loaded.step, bench.policy, bench.process)
        after, state_after = snapshot(), teller.state() if teller else {}
        checks = passport.host_checks(before, after) + passport.sample_checks(samples)
        if teller:
            checks += teller.checks(state_before, state_after)
        return samples, Passport.of(checks)

    def _metrics(
        self, bench: Bench, source: Source, loaded: Loaded, first_ms: float, check: OutputCheck | None
    ) -> dict[str, MetricValue]:
        warm = None if bench.fresh else "first of this shape; the process had run other shapes before"
        metrics = {
            "build_ms": MetricValue(value=source.build_ms, note=None if source.build_ms else "all from the cache"),
            "load_ms": MetricValue(value=loaded.load_ms),
            "first_ms": MetricValue(value=first_ms, note=warm),
        }
        if check and check.rel_l2 is not None:
            metrics["error_rel_l2"] = MetricValue(value=check.rel_l2, n=check.compared)
        if source.info.gflop is not None:
            metrics["compute_gflop"] = MetricValue(value=source.info.gflop)
        metrics |= memory_pass(bench.session, loaded.step, bench.policy)
        return metrics | energy_pass(bench.session, loaded.step, bench.policy)

    def _invalid(self, bench: Bench, source: Source, loaded: Loaded, check: OutputCheck) -> Outcome:
        error = "not finite" if check.rel_l2 is None else f"off by {check.rel_l2:.2g} (limit {check.tolerance:g})"
        return Outcome(
            status=Status.INVALID,
            reason=f"output '{check.worst_output}' is {error} against {check.reference}",
            remedy="use another precision or runtime for this model",
            device=bench.session.device,
            model=source.info,
            placement=loaded.placement(),
            check=check,
            software=_versions(RUNTIMES.get(bench.case.runtime).packages()),
        )


def _versions(packages: tuple[str, ...]) -> dict[str, str]:
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


MEMBER = Inference()
