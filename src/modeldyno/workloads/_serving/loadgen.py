"""MLPerf's LoadGen as the source of the load: it sends the queries, keeps the time and gives its verdict."""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.core.types import Check
from modeldyno.workloads._serving.logs import Summary, Times, read_summary, read_times
from modeldyno.workloads._serving.order import Order, Scenario
from modeldyno.workloads._serving.server import Server, Tally

PACKAGE = "mlcommons-loadgen"
SEED = 6
"""Of the schedule: equal seeds mean equal loads."""
NO_BOUND_NS = 3_600_000_000_000
HURRY = 2
"""LoadGen makes its queries before a test; where it is to last for a time it gets so many times those expected."""
_NAMES = {
    Scenario.SINGLE_STREAM: "SingleStream",
    Scenario.MULTI_STREAM: "MultiStream",
    Scenario.SERVER: "Server",
    Scenario.OFFLINE: "Offline",
}


@dataclass(frozen=True)
class LoadTest:
    """One test: LoadGen's times and summary, and what the server counted."""

    order: Order
    times: Times
    summary: Summary
    tally: Tally
    trust: tuple[Check, ...] = ()
    """What host and device did meanwhile."""


def check_installed() -> None:
    if find_spec("mlperf_loadgen") is None:
        raise Unsupported("serving needs MLPerf's LoadGen, which is not installed", "pip install 'modeldyno[serving]'")


def run_test(order: Order, server: Server, service_rate: float) -> LoadTest:
    """One test. The load comes from a thread of its own; the model runs in this one, where it was loaded."""
    import mlperf_loadgen as lg

    received_s: list[float] = []

    def receive(samples: Any) -> None:
        received_s.append(time.perf_counter())
        server.receive([sample.id for sample in samples])

    system = lg.ConstructSUT(receive, lambda: None)
    library = lg.ConstructQSL(1, 1, lambda _: None, lambda _: None)  # all requests carry an item of the same size
    settings = _settings(lg, order, service_rate)
    with tempfile.TemporaryDirectory() as folder:
        log = _log_settings(lg, folder)

        def send() -> None:
            lg.StartTestWithLogSettings(system, library, settings, log, "")

        try:
            tally = _served(server, send)
        finally:
            lg.DestroyQSL(library)
            lg.DestroySUT(system)
        return LoadTest(order, read_times(Path(folder), received_s), read_summary(Path(folder)), tally)


def _served(server: Server, send: Callable[[], None]) -> Tally:
    """The server at work while another thread sends; an error there is raised here."""

    def load() -> None:
        try:
            send()
        finally:
            server.end()

    with ThreadPoolExecutor(1, thread_name_prefix="loadgen") as thread:
        sent = thread.submit(load)
        tally = server.serve(_answer)
    sent.result()
    return tally


def _answer(requests: Sequence[int]) -> None:
    import mlperf_loadgen as lg

    lg.QuerySamplesComplete([lg.QuerySampleResponse(request, 0, 0) for request in requests])


def _settings(lg: Any, order: Order, service_rate: float) -> Any:
    settings = lg.TestSettings()
    settings.scenario = getattr(lg.TestScenario, _NAMES[order.scenario])
    settings.mode = lg.TestMode.PerformanceOnly
    settings.qsl_rng_seed = settings.sample_index_rng_seed = settings.schedule_rng_seed = SEED
    settings.min_query_count = order.queries
    settings.min_duration_ms = 0 if order.exactly or order.rate else int(order.least_s * 1e3)
    settings.max_duration_ms = int((order.most_s or 0.0) * 1e3)  # 0 for no end
    expected_ns = int(1e9 / (HURRY * service_rate))
    settings.single_stream_expected_latency_ns = expected_ns
    settings.multi_stream_expected_latency_ns = order.samples_per_query * expected_ns
    settings.multi_stream_samples_per_query = order.samples_per_query
    settings.offline_expected_qps = HURRY * service_rate
    if order.rate:
        _bound(settings, order, order.rate, service_rate)
    return settings


def _bound(settings: Any, order: Order, rate: float, service_rate: float) -> None:
    """LoadGen ends a test by itself when more queries wait than can be answered in time."""
    slo = order.slo
    settings.server_target_qps = rate
    settings.server_target_latency_percentile = slo.share if slo and slo.share else 0.9
    settings.server_target_latency_ns = int(slo.bound_ms * 1e6) if slo and slo.share else NO_BOUND_NS
    settings.server_max_async_queries = (
        slo.hopeless_backlog(order.queries, service_rate) if slo else int(1 + 2 * service_rate * order.least_s)
    )


def _log_settings(lg: Any, folder: str) -> Any:
    output = lg.LogOutputSettings()
    output.outdir = folder
    output.copy_summary_to_stdout = False
    log = lg.LogSettings()
    log.log_output = output
    log.enable_trace = True  # has the times of each query
    return log
