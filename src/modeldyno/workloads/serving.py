"""Serving: queries come as MLPerf's LoadGen sends them, the server batches and answers them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, MetricValue, Outcome, Passport, Samples, Status, Stop
from modeldyno.measure.loop import no_garbage_collection
from modeldyno.measure.memory import memory_pass
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._extra_work import EXTRA_WORK
from modeldyno.workloads._judged import judged
from modeldyno.workloads._placement import fallback_check, proven
from modeldyno.workloads._sampled import watched
from modeldyno.workloads._serving import judge
from modeldyno.workloads._serving.loadgen import PACKAGE, LoadTest, check_installed, run_test
from modeldyno.workloads._serving.order import OPTIONS, Order, read_order
from modeldyno.workloads._serving.ready import Ready, cases_by_size, fitting, load, load_metrics, service_rate, warm
from modeldyno.workloads._serving.server import Server
from modeldyno.workloads._serving.sustained import BoundMissed, sustained
from modeldyno.workloads.inference import MEMBER as INFERENCE
from modeldyno.workloads.inference import versions, wrong_outputs

TRIAL_QUERIES = 3


class Serving:
    """A model behind a server loop, under the load of one of MLPerf's scenarios."""

    name = "serving"
    options = OPTIONS | {EXTRA_WORK}
    ranked = False
    shows = ("sustained_per_s", "goodput_per_s", "throughput_per_s", "latency_ms", "latency_p99_ms", "served_batch")

    def check(self, case: Case) -> None:
        read_order(case)

    def prepare(self, case: Case, note: Callable[[str], None]) -> Outcome:
        """As for inference, for each batch size that the server uses."""
        check_installed()
        prepared = [INFERENCE.prepare(one, note).metrics["prepare_ms"] for one in cases_by_size(case).values()]
        elapsed = MetricValue(value=sum(metric.value or 0.0 for metric in prepared))
        return Outcome(status=Status.OK, metrics={"prepare_ms": elapsed})

    def run(self, bench: Bench) -> Outcome:
        check_installed()
        if bench.turns is not None:
            raise Unsupported("a load cannot be sampled in turns with others", "use dyno compare for serving")
        if bench.trial:
            return _fits(bench)
        order = read_order(bench.case, bench.policy.samples)
        bench.note("loading")
        ready = load(bench)
        worst = max(ready, key=lambda one: one.strain)
        if not worst.check.passed:
            return wrong_outputs(bench, worst.source, worst.loaded, worst.check)
        bench.note("warming up")
        pace = warm(bench, ready)
        try:
            tested = _tested(bench, order, ready, service_rate(pace))
        except BoundMissed as missed:
            return _impossible(bench, ready[0], str(missed))
        metrics = load_metrics(bench, ready) | judge.metrics(tested) | _sustained(order, tested)
        metrics |= memory_pass(bench.session, ready[0].loaded.step, bench.policy)
        placement = proven(ready[0].loaded.placement(), bench.case.precision)
        passport = Passport.of((*tested.trust, *judge.checks(tested), fallback_check(placement)))
        return judged(
            passport,
            device=bench.session.device,
            model=ready[0].source.info,
            placement=placement,
            check=worst.check,
            metrics=metrics,
            samples=_samples(bench, tested, pace[ready[0].size]),
            software=_software(bench),
            log=tested.summary.text,
        )


def _fits(bench: Bench) -> Outcome:
    """A test of a few queries at the largest batch; what does not fit raises."""
    size, step = fitting(bench)
    server = Server(bench.session, {size: step}, 0.0)
    run_test(Order(exactly=TRIAL_QUERIES), server, 1.0)
    return Outcome(status=Status.OK, device=bench.session.device)


def _tested(bench: Bench, order: Order, ready: list[Ready], rate: float) -> LoadTest:
    """The test that the record is about: as ordered, or at the highest rate that keeps the bound."""
    server = Server(bench.session, {one.size: one.step for one in ready}, order.window_s)

    def test(wanted: Order) -> LoadTest:
        bench.note(f"{wanted.scenario}, {wanted.rate:.4g} queries/s" if wanted.rate else wanted.scenario.value)
        with no_garbage_collection():
            tested, trust = watched(bench, lambda: run_test(wanted, server, rate))
        return replace(tested, trust=trust)

    if order.slo and not order.rate:
        return sustained(order, order.slo, rate, test)
    return test(order)


def _sustained(order: Order, tested: LoadTest) -> dict[str, MetricValue]:
    """Only where the rate was searched for."""
    if order.rate or not order.slo:
        return {}
    return {"sustained_per_s": MetricValue(value=tested.times.offered_per_s, n=len(tested.times.latency_ms))}


def _samples(bench: Bench, tested: LoadTest, warmup: Samples) -> Samples:
    return Samples(
        process=bench.process,
        warmup_ms=warmup.warmup_ms,
        host_ms=[],
        parts=judge.series(tested),
        stop=Stop.SAMPLE_COUNT,
        steady=warmup.steady,
    )


def _impossible(bench: Bench, largest: Ready, reason: str) -> Outcome:
    return Outcome(
        status=Status.INVALID,
        reason=reason,
        remedy="raise the bound, or use a smaller model, another precision or a faster device",
        device=bench.session.device,
        model=largest.source.info,
        check=largest.check,
        software=_software(bench),
    )


def _software(bench: Bench) -> dict[str, str]:
    return versions((*RUNTIMES.get(bench.case.runtime).packages(), PACKAGE))


MEMBER = Serving()
