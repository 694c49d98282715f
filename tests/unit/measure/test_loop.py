"""The loop keeps its rules, on a session whose clock the test owns."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import pytest

from modeldyno.core.policy import Policy
from modeldyno.core.protocols import Lap
from modeldyno.core.types import Device, Stop
from modeldyno.measure import loop

POLICY = Policy(name="test", processes=1, relative_width=0.01, max_time_s=2, warmup_max_s=2, min_time_s=0.0)


class ScriptedSession:
    """A device whose step times are given; time on the loop's clock passes by just those."""

    device = Device(platform="scripted", index=0, name="Scripted")

    def __init__(self, milliseconds: Iterator[float]) -> None:
        self._times = milliseconds
        self.now = 0.0
        self.counts: list[int] = []

    def lap(self, step: Callable[[], object], count: int) -> Lap:
        for _ in range(count):
            step()
        self.counts.append(count)
        elapsed = sum(next(self._times) for _ in range(count))
        self.now += elapsed / 1e3
        return Lap(host_ns=int(elapsed * 1e6))

    def close(self) -> None: ...


@pytest.fixture
def scripted(monkeypatch: pytest.MonkeyPatch) -> Callable[[Iterator[float]], ScriptedSession]:
    def make(milliseconds: Iterator[float]) -> ScriptedSession:
        session = ScriptedSession(milliseconds)
        monkeypatch.setattr("modeldyno.measure.loop.time.perf_counter", lambda: session.now)
        return session

    return make


def test_short_steps_are_timed_together(scripted) -> None:
    session = scripted(itertools.repeat(0.01))
    samples = loop.sample(session, lambda: None, POLICY)
    assert samples.steps_per_sample > 1
    assert samples.host_ms[0] == pytest.approx(0.01)


def test_long_steps_are_timed_one_by_one(scripted) -> None:
    session = scripted(itertools.repeat(20.0))
    assert loop.sample(session, lambda: None, POLICY).steps_per_sample == 1


def test_warm_up_ends_when_windows_agree_and_is_kept_apart(scripted) -> None:
    falling = itertools.chain((100.0 / n for n in range(1, 12)), itertools.repeat(8.0))
    samples = loop.sample(scripted(falling), lambda: None, POLICY)
    assert samples.steady
    assert max(samples.host_ms) < 1.2 * 8.0
    assert len(samples.warmup_ms) >= 20


def test_a_drifting_step_never_gets_steady(scripted) -> None:
    rising = (10.0 * 1.02**n for n in itertools.count())
    samples = loop.sample(scripted(rising), lambda: None, POLICY)
    assert not samples.steady


def test_quiet_samples_stop_by_interval_with_at_least_ten(scripted) -> None:
    samples = loop.sample(scripted(itertools.repeat(5.0)), lambda: None, POLICY)
    assert samples.stop is Stop.INTERVAL
    assert len(samples.host_ms) >= 10


def test_noise_that_does_not_get_less_stops_the_sampling(scripted) -> None:
    noisy = itertools.cycle([5.0, 9.0, 6.0, 12.0, 5.5, 7.0])
    policy = POLICY.model_copy(update={"max_time_s": 60, "relative_width": 1e-6})
    samples = loop.sample(scripted(noisy), lambda: None, policy)
    assert samples.stop is Stop.NOISE_SETTLED
    assert len(samples.host_ms) < 1000


def test_slow_steps_reach_the_cap_with_at_least_three(scripted) -> None:
    samples = loop.sample(scripted(itertools.cycle([1000.0, 1300.0])), lambda: None, POLICY)
    assert samples.stop is Stop.TIME_CAP
    assert len(samples.host_ms) == 3


def test_a_fixed_number_of_samples_is_exact(scripted) -> None:
    policy = POLICY.model_copy(update={"samples": 7})
    samples = loop.sample(scripted(itertools.repeat(5.0)), lambda: None, policy)
    assert len(samples.host_ms) == len(samples.cpu_ms) == len(samples.wait_ms) == 7
    assert samples.stop is Stop.SAMPLE_COUNT


def test_device_time_is_sampled_where_the_session_can(scripted) -> None:
    session = scripted(itertools.repeat(5.0))
    session.device_lap = lambda step, cold: Lap(host_ns=1, device_ns=4_000_000 if cold else 3_000_000)
    samples = loop.sample(session, lambda: None, POLICY)
    assert set(samples.device_ms) == {3.0}
    assert set(samples.device_cold_ms) == {4.0}
