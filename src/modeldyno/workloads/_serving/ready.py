"""The model made ready to serve: loaded at each batch size, checked, warm, its pace known."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from modeldyno.core.errors import Unsupported
from modeldyno.core.protocols import Bench, Loaded, Source, Step, TimesItself
from modeldyno.core.types import Case, MetricValue, OutputCheck, Samples
from modeldyno.measure import loop
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._extra_work import with_extra_work
from modeldyno.workloads._outputs import check_outputs
from modeldyno.workloads._serving.server import batch_sizes
from modeldyno.workloads.inference import source_of

_PACE = {"max_time_s": 1.0, "min_time_s": 0.1}
"""A rough pace is enough: it tells where to begin."""


@dataclass(frozen=True)
class Ready:
    """The model at one batch size."""

    size: int
    source: Source
    loaded: Loaded
    step: Step
    first_ms: float
    check: OutputCheck

    @property
    def strain(self) -> float:
        """How near the outputs come to what is allowed."""
        return float("inf") if self.check.rel_l2 is None else self.check.rel_l2 / self.check.tolerance


def cases_by_size(case: Case) -> dict[int, Case]:
    """The case at each batch size that is loaded; its own batch is the largest."""
    return {size: case.model_copy(update={"batch": size}) for size in batch_sizes(case.batch)}


def load(bench: Bench) -> list[Ready]:
    """The largest batch first: where it does not fit, no time is lost with the others."""
    RUNTIMES.get(bench.case.runtime).check(bench.session, bench.case.precision)
    cases = sorted(cases_by_size(bench.case).items(), reverse=True)
    return [_load_one(bench, size, case) for size, case in cases]


def fitting(bench: Bench) -> tuple[int, Step]:
    """The largest batch size and its step, with all sizes loaded as for a test, and nothing else done."""
    RUNTIMES.get(bench.case.runtime).check(bench.session, bench.case.precision)
    cases = sorted(cases_by_size(bench.case).items(), reverse=True)
    loaded = {size: _placed(bench, source_of(case), case) for size, case in cases}
    for one in loaded.values():
        bench.session.lap(one.step, 1)
    return bench.case.batch, loaded[bench.case.batch].step


def _placed(bench: Bench, source: Source, case: Case) -> Loaded:
    loaded = RUNTIMES.get(case.runtime).load(source, bench.session, case)
    if isinstance(loaded, TimesItself):
        raise Unsupported(
            f"{case.runtime} runs the model elsewhere and keeps its own time there", "use another --runtime"
        )
    return loaded


def _load_one(bench: Bench, size: int, case: Case) -> Ready:
    source = source_of(case)
    loaded = _placed(bench, source, case)
    first_ms = bench.session.lap(loaded.step, 1).host_ns / 1e6
    rounding = source.rounding(case.precision)
    check = check_outputs(loaded.outputs(), source.reference(), case.precision, rounding)
    return Ready(size, source, loaded, with_extra_work(bench, loaded), first_ms, check)


def warm(bench: Bench, ready: list[Ready]) -> dict[int, Samples]:
    """Steps of each size until they are steady, and a few to know their pace."""
    policy = bench.policy.model_copy(update=_PACE)
    return {one.size: loop.sample(bench.session, one.step, policy, bench.process) for one in ready}


def service_rate(pace: dict[int, Samples]) -> float:
    """Items per second of the size that does most."""
    return max(size * 1e3 / median(samples.host_ms) for size, samples in pace.items())


def load_metrics(bench: Bench, ready: list[Ready]) -> dict[str, MetricValue]:
    """Of all sizes together; outputs of the one that is worst off."""
    warm = "" if bench.fresh else "; first of this shape; the process had run other shapes before"
    load_ms = sum({one.loaded.load_ms for one in ready})  # equal readings are one: sizes that share a placed module
    worst = max(ready, key=lambda one: one.strain)
    sizes = f"batch sizes {', '.join(str(one.size) for one in reversed(ready))}"
    built_ms = sum(one.source.build_ms for one in ready)
    metrics = {
        "load_ms": MetricValue(value=load_ms, note=sizes),
        "first_ms": MetricValue(value=ready[0].first_ms, note=f"of batch size {ready[0].size}{warm}"),
        "error_rel_l2": MetricValue(value=worst.check.rel_l2, n=worst.check.compared),
    }
    return metrics | ({"build_ms": MetricValue(value=built_ms)} if built_ms else {})
