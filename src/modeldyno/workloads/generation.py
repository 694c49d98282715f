"""Generation: a prompt is read, then tokens are written one after the other."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping

from modeldyno import models
from modeldyno.core.decoding import Decoder, Decodes, DecodingSource, OffersCaches
from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.protocols import Bench, Runtime
from modeldyno.core.types import Case, MetricValue, Outcome, OutputCheck, Passport, Status
from modeldyno.measure.energy import energy_pass
from modeldyno.measure.memory import memory_pass
from modeldyno.runtimes import RUNTIMES
from modeldyno.workloads._generation_step import BETWEEN, FIRST, Generation, parts_add_up, rates, scores_along
from modeldyno.workloads._judged import judged
from modeldyno.workloads._outputs import check_outputs
from modeldyno.workloads._placement import fallback_check, proven
from modeldyno.workloads._sampled import sampled
from modeldyno.workloads.inference import versions, wrong_outputs

CACHE = "cache"
"""Option of a case: how keys and values are kept."""
CACHES = ("dynamic", "static")


class GenerationWorkload:
    """Load, first generation, check, steady samples, memory, energy: in this order, each apart.

    A step is a whole generation of all sequences of the batch."""

    name = "generation"
    options = frozenset({CACHE})
    shows = (FIRST, BETWEEN, "tokens_per_s", "kv_cache_mb")

    def axes(self, of_model: Mapping[str, int]) -> Mapping[str, int]:
        return models.decoding_axes(of_model)

    def check(self, case: Case) -> None:
        if case.options.get(CACHE, CACHES[0]) not in CACHES:
            raise InputError(f"The option {CACHE} is not {case.options[CACHE]!r}; write {' or '.join(CACHES)}.")

    def prepare(self, case: Case, note: Callable[[str], None]) -> Outcome:
        """What can be made once and kept: the reference, and what the runtime wants from the exporter."""
        note("preparing")
        begin = time.perf_counter()
        runtime, source = _decoding_runtime(case), _source(case)
        source.reference()
        source.rounding(case.precision)
        runtime.prepare_decoder(source, case.precision)
        elapsed = MetricValue(value=(time.perf_counter() - begin) * 1e3)
        return Outcome(status=Status.OK, metrics={"prepare_ms": elapsed})

    def run(self, bench: Bench) -> Outcome:
        case, runtime = bench.case, _decoding_runtime(bench.case)
        RUNTIMES.get(case.runtime).check(bench.session, case.precision)
        source = _source(case)
        bench.note("loading")
        decoder = runtime.load_decoder(source, bench.session, case)
        step = Generation(bench.session, decoder, source.new_tokens)
        cold = _cold(bench, step)
        check = _checked(decoder, source, case.precision)
        if not check.passed:
            return wrong_outputs(bench, source, decoder, check)
        bench.note("measuring")
        samples, trust = sampled(bench, step)
        bench.note("memory, energy where asked")
        metrics = cold | _once(source, decoder, check) | rates(source, samples, case.batch)
        metrics |= memory_pass(bench.session, step, bench.policy) | energy_pass(bench.session, step, bench.policy)
        placement = proven(decoder.placement(), case.precision)
        trust = Passport.of((*trust.checks, parts_add_up(samples, source.new_tokens), fallback_check(placement)))
        return judged(
            trust,
            device=bench.session.device,
            model=source.info,
            placement=placement,
            check=check,
            metrics=metrics,
            samples=samples,
            software=versions(RUNTIMES.get(case.runtime).packages()),
        )


def _source(case: Case) -> DecodingSource:
    return models.prepare_decoding(models.resolve(case.model), case.batch, case.shape, case.weights)


def _decoding_runtime(case: Case) -> Decodes:
    runtime = RUNTIMES.get(case.runtime)
    if not isinstance(runtime, Decodes):
        able = ", ".join(one.name for one in RUNTIMES.all() if isinstance(one, Decodes))
        raise Unsupported(f"{case.runtime} cannot write token after token", f"use --runtime {able}")
    if case.options.get(CACHE, CACHES[0]) not in _caches(RUNTIMES.get(case.runtime)):
        raise Unsupported(f"{case.runtime} offers no {case.options[CACHE]} cache", f"leave out --option {CACHE}")
    return runtime


def _caches(runtime: Runtime) -> tuple[str, ...]:
    return runtime.caches if isinstance(runtime, OffersCaches) else CACHES[:1]


def _cold(bench: Bench, step: Generation) -> dict[str, MetricValue]:
    """The very first generation, before anything else has touched the model."""
    whole_ms = bench.session.lap(step, 1).host_ns / 1e6
    first_ms = step.read()[FIRST][0]
    warm = None if bench.fresh else "first of this shape; the process had run other shapes before"
    return {
        "first_ms": MetricValue(value=whole_ms, note=warm),
        "cold_first_token_ms": MetricValue(value=first_ms, note=warm),
    }


def _checked(decoder: Decoder, source: DecodingSource, precision: str) -> OutputCheck:
    outputs = models.named_scores(scores_along(decoder, source.path()))
    return check_outputs(outputs, source.reference(), precision, source.rounding(precision))


def _once(source: DecodingSource, decoder: Decoder, check: OutputCheck) -> dict[str, MetricValue]:
    """What is known without the clock of the steps; the cache is that of the last generation's end."""
    metrics = {
        "load_ms": MetricValue(value=decoder.load_ms),
        "error_rel_l2": MetricValue(value=check.rel_l2, n=check.compared),
    }
    if source.build_ms:
        metrics["build_ms"] = MetricValue(value=source.build_ms)
    if (kept := decoder.cache_mb()) is not None:
        metrics["kv_cache_mb"] = MetricValue(value=kept)
    return metrics


MEMBER = GenerationWorkload()
