"""The load is LoadGen's, the times are its own, the batches are what came together, the search finds the edge."""

from __future__ import annotations

import re
import threading
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.core.policy import policy
from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, Check, Outcome, Status, Verdict
from modeldyno.platforms import PLATFORMS
from modeldyno.workloads import WORKLOADS
from modeldyno.workloads._serving import judge, loadgen
from modeldyno.workloads._serving.loadgen import LoadTest, run_test
from modeldyno.workloads._serving.order import Order, Scenario, read_order
from modeldyno.workloads._serving.ready import load, load_metrics
from modeldyno.workloads._serving.search import CLOSE, agreed, highest_rate
from modeldyno.workloads._serving.server import Server, Tally, batch_sizes
from modeldyno.workloads._serving.slo import Slo, read_slo
from modeldyno.workloads._serving.sustained import BoundMissed, sustained

pytest.importorskip("mlperf_loadgen")

QUICK = policy("quick").model_copy(update={"warmup_max_s": 0.2, "memory_steps": 1})


def case(**options: str | int | float | bool) -> Case:
    fields = {"workload": "serving", "model": "tiny-bert", "platform": "cpu", "runtime": "torch", "shape": {"seq": 8}}
    return Case.model_validate({**fields, "options": options})


@pytest.mark.parametrize(
    ("text", "name", "bound_ms"),
    [("p99=100ms", "p99", 100), ("p99.9 = 2s", "p99.9", 2000), ("P90=500us", "p90", 0.5), ("mean=1.5ms", "mean", 1.5)],
)
def test_a_bound_is_read_as_people_write_it(text: str, name: str, bound_ms: float) -> None:
    assert read_slo(text) == Slo(name, bound_ms)


@pytest.mark.parametrize("text", ["p99", "p99=100", "p99=-1ms", "p99=0ms", "p98=1ms", "100ms", "p99=1h", "", 7])
def test_a_bound_that_makes_no_sense_is_told_how_to_write_it(text: object) -> None:
    with pytest.raises(InputError, match=r"write for example p99=100ms|use one of p90"):
        read_slo(text)


def test_percentiles_are_by_rank_as_in_loadgen() -> None:
    values = [float(value) for value in range(100, 0, -1)]
    assert Slo("p90", 1).reached(values) == 91
    assert Slo("p99", 1).reached(values) == 100
    assert Slo("mean", 1).reached(values) == 50.5
    assert Slo("p90", 95.0).late(values) == 5


@pytest.mark.parametrize(
    ("options", "scenario"),
    [
        ({}, Scenario.SINGLE_STREAM),
        ({"rate": 10}, Scenario.SERVER),
        ({"slo": "p99=1s"}, Scenario.SERVER),
        ({"scenario": "offline"}, Scenario.OFFLINE),
        ({"scenario": "multi-stream", "samples_per_query": 3}, Scenario.MULTI_STREAM),
    ],
)
def test_the_scenario_follows_from_what_is_asked(options: dict[str, str | int], scenario: Scenario) -> None:
    order = read_order(case(**options))
    assert order.scenario is scenario
    assert order.samples_per_query == options.get("samples_per_query", 1)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"scenario": "serve"}, "did you mean 'server'"),
        ({"scenario": "server"}, "needs a rate or an slo"),
        ({"scenario": "offline", "slo": "p99=1s"}, "slo is for scenario=server"),
        ({"scenario": "single-stream", "rate": 5}, "rate is for scenario=server"),
        ({"rate": 0}, "more than 0, not 0"),
        ({"rate": "fast"}, "not 'fast'"),
        ({"duration": -1}, "seconds, more than 0"),
        ({"window_ms": -1}, "0 or more"),
        ({"samples_per_query": 4}, "for scenario=multi-stream"),
        ({"scenario": "multi-stream", "samples_per_query": 0}, "whole number from 1"),
        ({"scenario": "multi-stream", "samples_per_query": 1.5}, "whole number from 1"),
    ],
)
def test_options_that_make_no_sense_are_refused_before_anything_runs(options: dict[str, object], words: str) -> None:
    with pytest.raises(InputError, match=words):
        WORKLOADS.get("serving").check(case(**options))  # type: ignore[attr-defined, arg-type]


def test_a_test_goes_on_until_its_percentile_can_be_told() -> None:
    order = Order(scenario=Scenario.SERVER, rate=10.0, slo=Slo("p99", 20.0), duration_s=1.0)
    assert replace(order, slo=None).queries == 64
    assert order.queries == 2 * 662, "with the least one late answer decides"
    assert replace(order, rate=2000.0).queries == 2000
    assert order.at(2000.0, longer=2).queries == 4000
    assert replace(order, rate=1000.0, slo=Slo("p99", 500.0)).queries == 5000, "ten times the bound"
    assert replace(order, exactly=3).queries == 3


@given(st.integers(1, 300))
def test_every_number_of_requests_has_a_size_less_than_twice_as_large(largest: int) -> None:
    sizes = batch_sizes(largest)
    assert sizes[0] == 1
    assert sizes[-1] == largest
    for requests in range(1, largest + 1):
        assert next(size for size in sizes if size >= requests) < 2 * requests


@given(st.floats(0.001, 1e6), st.floats(0.1, 1e5))
def test_the_search_ends_close_below_the_edge(edge: float, start: float) -> None:
    floor = start / 64
    found = highest_rate(lambda rate: rate <= edge, start, floor)
    if edge < floor:
        assert found is None
    else:
        assert found is not None
        assert edge / CLOSE <= found * (1 + 1e-9)
        assert found <= edge


@given(st.floats(0.05, 20.0), st.integers(0, 12), st.booleans())
def test_one_accident_in_the_search_moves_what_is_found_neither_way(edge: float, number: int, lucky: bool) -> None:
    """One test, whichever it is, says the wrong thing; the rate found is tested again, as the workload does."""
    made = 0

    def holds(rate: float) -> bool:
        nonlocal made
        made += 1
        right = rate <= edge
        return (not right) if made == number and right is not lucky else right

    found = highest_rate(holds, 1.0, 1 / 64)
    assert found is not None
    assert edge / CLOSE <= found * (1 + 1e-9)
    assert found <= edge or not agreed(holds, found, True)


class Sizes:
    """Steps that count how often each size ran."""

    def __init__(self, *sizes: int) -> None:
        self.ran: list[int] = []
        self.steps: dict[int, Callable[[], None]] = {size: lambda size=size: self.ran.append(size) for size in sizes}


def served(sizes: Sizes, window_s: float, *arrivals: list[int]) -> tuple[Tally, list[list[int]]]:
    server = Server(PLATFORMS.get("cpu").open(0), sizes.steps, window_s)
    answered: list[list[int]] = []
    for requests in arrivals:
        server.receive(requests)
    server.end()
    return server.serve(lambda batch: answered.append(list(batch))), answered


def test_a_batch_is_what_came_together_filled_up_to_a_size_that_is_loaded() -> None:
    sizes = Sizes(1, 2, 4)
    tally, answered = served(sizes, 0.0, [1, 2, 3, 4, 5], [6, 7])
    assert answered == [[1, 2, 3, 4], [5, 6, 7]]
    assert sizes.ran == [4, 4]
    assert (tally.requests, tally.batches, tally.places) == (7, 2, 8)
    assert tally.padding_share == pytest.approx(1 / 8)


def test_the_window_lets_the_first_request_wait_for_others() -> None:
    def with_window(window_s: float) -> list[list[int]]:
        server = Server(PLATFORMS.get("cpu").open(0), Sizes(1, 2).steps, window_s)
        answered: list[list[int]] = []
        server.receive([1])

        def come_later() -> None:
            server.receive([2])
            server.end()

        later = threading.Timer(0.2, come_later)
        later.start()
        server.serve(lambda batch: answered.append(list(batch)))
        later.join()
        return answered

    assert with_window(0.0) == [[1], [2]]
    assert with_window(30.0) == [[1, 2]]


SOURCE = np.ones((96, 96), dtype=np.float32)


def work() -> None:
    """Real work of a fraction of a millisecond."""
    for _ in range(5):
        SOURCE @ SOURCE


def tried(order: Order, step: Callable[[], None] = work, rate: float = 500.0) -> LoadTest:
    steps = {1: step, 2: step}
    return run_test(order, Server(PLATFORMS.get("cpu").open(0), steps, order.window_s), rate)


def said(tested: LoadTest, words: str) -> float:
    """The number that LoadGen's summary gives for these words."""
    found = re.search(rf"^{re.escape(words)}\s*: *([\d.]+)$", tested.summary.text, re.MULTILINE)
    assert found, tested.summary.text
    return float(found[1])


def test_our_times_are_those_of_loadgens_summary(capfd: pytest.CaptureFixture[str]) -> None:
    """One test after the other in one process, each of them silent."""
    server = tried(Order(Scenario.SERVER, rate=100.0, slo=Slo("p90", 1000.0), exactly=100))
    assert server.times.offered_per_s == pytest.approx(said(server, "Scheduled samples per second"), rel=1e-3)
    but_one = server.times.answered_per_s * 99 / 100  # LoadGen leaves out one of them
    assert but_one == pytest.approx(said(server, "Completed samples per second"), rel=1e-3)
    single = tried(Order(duration_s=0.3))
    assert single.times.answered_per_s == pytest.approx(said(single, "QPS w/ loadgen overhead"), rel=0.02)
    multi = tried(Order(Scenario.MULTI_STREAM, samples_per_query=3, exactly=20))
    assert len(multi.times.answered_ms) == 3 * len(multi.times.latency_ms)
    for tested in (server, single, multi):
        for name in ("p90", "p99"):
            reached = Slo(name, 1.0).reached(tested.times.latency_ms)
            assert reached * 1e6 == pytest.approx(said(tested, f"{name[1:]}.00 percentile latency (ns)"), abs=2)
        assert np.mean(tested.times.latency_ms) * 1e6 == pytest.approx(said(tested, "Mean latency (ns)"), abs=2)
    offline = tried(Order(Scenario.OFFLINE, duration_s=0.2))
    assert offline.times.answered_per_s == pytest.approx(said(offline, "Samples per second"), rel=0.02)
    assert offline.tally.served_batch > 1.9
    assert capfd.readouterr() == ("", "")


def test_equal_seeds_mean_equal_loads() -> None:
    order = Order(Scenario.SERVER, rate=400.0, exactly=50)
    first, second = tried(order).times.scheduled_ms, tried(order).times.scheduled_ms
    assert first == pytest.approx(second, abs=1e-3)
    gaps = np.diff(first)
    assert 0.5 < gaps.std() / gaps.mean() < 1.5, "Poisson: gaps scatter as much as they are long"


def test_a_server_without_hope_is_stopped_and_not_called_valid() -> None:
    order = Order(Scenario.SERVER, rate=1e5, slo=Slo("p90", 20.0), exactly=20_000)
    tested = tried(order)
    assert len(tested.times.latency_ms) < 20_000, "LoadGen ended it"
    assert not judge.holds(tested)
    slo, keeps_up, verdict = (
        next(check for check in judge.checks(tested) if check.name == name) for name in ("slo", "keeps_up", "loadgen")
    )
    assert {slo.verdict, keeps_up.verdict, verdict.verdict} == {Verdict.INVALID}
    assert verdict.value == "INVALID"
    assert "performance constraints not satisfied" in (verdict.advice or "")
    assert "backlog grows without end" in (keeps_up.advice or "")


def test_an_error_of_the_model_ends_the_test_and_the_next_one_works() -> None:
    done: list[int] = []

    def breaks() -> None:
        done.append(1)
        if len(done) > 5:
            raise MemoryError("no room")

    with pytest.raises(MemoryError, match="no room"):
        tried(Order(Scenario.SERVER, rate=500.0, exactly=100), breaks)
    assert len(done) == 6
    assert len(tried(Order(exactly=10)).times.latency_ms) == 10


def test_lag_counts_into_the_latency_and_is_held_against_the_bound() -> None:
    tested = tried(Order(Scenario.SERVER, rate=200.0, slo=Slo("p90", 500.0), exactly=100))
    times = tested.times
    assert all(0 <= lag <= latency for lag, latency in zip(times.lag_ms, times.latency_ms, strict=True))

    def verdict(lag_ms: float) -> Verdict:
        late = replace(tested, times=replace(times, lag_ms=[lag_ms] * len(times.lag_ms)))
        return next(check.verdict for check in judge.checks(late) if check.name == "client_lag")

    assert [verdict(lag) for lag in (1.0, 60.0, 300.0)] == [Verdict.VALID, Verdict.AMBIGUOUS, Verdict.INVALID]


def test_goodput_counts_what_came_in_time() -> None:
    tested = tried(Order(Scenario.SERVER, rate=200.0, slo=Slo("p90", 500.0), exactly=100))
    middle = float(np.median(tested.times.latency_ms))
    halved = replace(tested, order=replace(tested.order, slo=Slo("p90", middle)))
    metrics = judge.metrics(halved)
    assert metrics["late_share"].value == pytest.approx(0.5, abs=0.01)
    assert metrics["goodput_per_s"].value == pytest.approx(tested.times.answered_per_s / 2, rel=0.02)


def test_a_bound_that_an_idle_server_misses_is_told_with_the_best_seen() -> None:
    order = Order(Scenario.SERVER, slo=Slo("p90", 0.001))
    with pytest.raises(BoundMissed, match=r"no rate keeps p90=0.001ms: of an idle server p90 is [\d.]+ ms, the best"):
        sustained(order, Slo("p90", 0.001), 500.0, tried)


@cache
def real_test() -> LoadTest:
    return tried(Order(Scenario.SERVER, rate=200.0, slo=Slo("p90", 500.0), exactly=70))


def searched(order: Order, edge: float = 100.0, accidents: tuple[int, ...] = ()) -> tuple[LoadTest, list[Order]]:
    """A search over one real test whose verdict is turned by the rate; accidents are tests that miss by themselves."""
    real = real_test()
    assert judge.holds(real)
    asked: list[Order] = []

    def test(wanted: Order) -> LoadTest:
        if wanted.rate is None:
            return real
        asked.append(wanted)
        held = wanted.rate <= edge and len(asked) not in accidents
        return replace(real, order=wanted if held else replace(wanted, slo=Slo("p90", 1e-6)))

    assert order.slo
    return sustained(order, order.slo, 100.0, test), asked


SEARCHED = Order(Scenario.SERVER, slo=Slo("p90", 500.0), duration_s=1.0)


def search_check(tested: LoadTest) -> Check:
    return next(check for check in tested.trust if check.name == "search")


def test_the_record_says_how_many_tests_a_search_made_and_missed() -> None:
    found, asked = searched(SEARCHED)
    assert 100 / CLOSE <= (found.order.rate or 0) <= 100
    assert found.order.longer == 2, "the record is the longer test"
    missed = sum(order.rate > 100 for order in asked if order.rate)
    assert search_check(found).value == f"{len(asked)} tests, {missed} missed, lowered 0 times"
    assert search_check(found).verdict is Verdict.VALID
    assert len(asked) <= 9
    unlucky, again = searched(SEARCHED, accidents=(len(asked), len(asked) + 1))
    assert str(search_check(unlucky).value).endswith("lowered 1 times")
    assert [order.longer for order in again[-4:]] == [2, 2, 2, 2]
    assert (unlucky.order.rate or 0) == pytest.approx((found.order.rate or 0) / CLOSE)


def test_a_search_that_would_take_too_long_tells_what_it_reached() -> None:
    """At 100 queries/s a test of the bound lasts 5 s, the one that confirms it 10 s."""
    found, asked = searched(replace(SEARCHED, search_s=9.0))
    assert {order.longer for order in asked} == {1}
    assert search_check(found).verdict is Verdict.AMBIGUOUS
    assert "--option search_s=1800 --timeout 3600" in (search_check(found).advice or "")
    with pytest.raises(BoundMissed, match="no time left after 0 tests"):
        searched(replace(SEARCHED, search_s=1.0))


def test_a_verdict_without_a_reason_is_not_waved_through() -> None:
    tested = tried(Order(exactly=10))
    assert "min queries" not in tested.summary.unsatisfied

    def verdict(*unsatisfied: str, exactly: int | None = 10) -> Verdict:
        summary = replace(tested.summary, valid=False, unsatisfied=unsatisfied)
        judged = replace(tested, order=replace(tested.order, exactly=exactly), summary=summary)
        return next(check.verdict for check in judge.checks(judged) if check.name == "loadgen")

    assert verdict("early stopping") is Verdict.VALID
    assert verdict() is Verdict.INVALID
    assert verdict("early stopping", exactly=None) is Verdict.INVALID
    assert verdict("early stopping", "performance constraints") is Verdict.INVALID


def test_an_error_of_loadgen_is_raised(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loadgen, "_log_settings", lambda lg, folder: None)
    with pytest.raises(TypeError, match="incompatible function arguments"):
        tried(Order(exactly=3))


def test_only_what_waited_in_a_queue_has_no_interval() -> None:
    queued = judge.metrics(tried(Order(Scenario.SERVER, rate=500.0, exactly=70)))
    assert queued["latency_ms"].low is None
    assert "no interval" in (queued["latency_ms"].note or "")
    assert "latency_ms" not in judge.metrics(tried(Order(exactly=10))), "follows from the samples"


def test_a_trial_only_shows_that_it_fits() -> None:
    bench = Bench(case(), QUICK, PLATFORMS.get("cpu").open(0), 0, True, lambda text: None, trial=True)
    found = WORKLOADS.get("serving").run(bench)
    assert found.status is Status.OK
    assert found.samples is None
    assert found.metrics == {}


def test_sizes_that_share_a_module_count_its_load_once() -> None:
    fresh = Bench(case().model_copy(update={"batch": 4}), QUICK, PLATFORMS.get("cpu").open(0), 0, True, lambda _: None)
    ready = load(fresh)
    assert len(ready) == 3
    assert load_metrics(fresh, ready)["load_ms"].value == ready[0].loaded.load_ms
    assert load_metrics(fresh, ready)["first_ms"].note == "of batch size 4"
    assert "had run other shapes" in (load_metrics(replace(fresh, fresh=False), ready)["first_ms"].note or "")


def test_without_loadgen_the_case_is_skipped_with_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loadgen, "find_spec", lambda name: None)
    with pytest.raises(Unsupported, match=r"pip install 'modeldyno\[serving\]'"):
        measure(case())


def measure(wanted: Case) -> Outcome:
    bench = Bench(wanted, QUICK, PLATFORMS.get("cpu").open(0), 0, True, lambda text: None)
    return WORKLOADS.get("serving").run(bench)


@pytest.fixture
def one_thread() -> Iterator[None]:
    """Threads that wait for each other make a busy machine seem many times slower."""
    import torch

    usual = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(usual)


@pytest.mark.slow
@pytest.mark.usefixtures("one_thread")
def test_a_server_made_slow_on_purpose_misses_the_bound_at_the_rate_it_kept() -> None:
    idle = measure(case(duration=0.5))
    assert idle.samples
    slo = f"p90={10 * np.quantile(idle.samples.parts['latency_ms'], 0.9):.3f}ms"
    pair = {"batch": 2}
    found = measure(case(slo=slo, duration=0.5).model_copy(update=pair))
    assert found.status is Status.OK, found.reason
    rate = found.metrics["sustained_per_s"].value
    assert rate
    assert found.metrics["goodput_per_s"].value
    assert found.metrics["served_batch"].value
    slow = measure(case(slo=slo, duration=0.5, rate=rate, extra_work=5).model_copy(update=pair))
    assert slow.status is Status.INVALID
    assert f"misses {read_slo(slo)}" in (slow.reason or "")
    assert "LoadGen says INVALID" in (slow.reason or "")
    assert "Result is : INVALID" in (slow.log or "")
