"""Histories: regressions told from new drivers, bad hosts and what went away."""

from __future__ import annotations

import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeldyno.analysis.history import History, analyse
from modeldyno.analysis.hosts import Suspect, odd_hosts, suspect
from modeldyno.analysis.verdict import Change
from modeldyno.core.types import Case, Provenance, Status
from modeldyno.store.points import Point, Series

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
CASE = Case(model="m", platform="cpu", runtime="torch")


def point(number: int, value: float | None, **changes: object) -> Point:
    fields = {
        "record_id": f"{number:04}",
        "run_id": f"run{number}",
        "started_at": BEGIN + timedelta(days=number),
        "status": Status.OK,
        "provenance": Provenance.MEASURED,
        "value": value,
        "low": None,
        "high": None,
        "commit": f"c{number}",
        "host_id": "h",
        "host": "h",
        "driver": "d1",
        "software": (("torch", "2.0"),),
        **changes,
    }
    return Point(**fields)  # type: ignore[arg-type]


def series(points: Sequence[Point]) -> Series:
    return Series("s", CASE, "Chip", tuple(points))


def values(seed: int, *levels: tuple[int, float]) -> list[float]:
    """So many values at each level, with 0.5 % of noise."""
    dice = np.random.default_rng(seed)
    return [float(level * math.exp(0.005 * dice.standard_normal())) for count, level in levels for _ in range(count)]


def one(points: Sequence[Point], name: str = "latency_ms", **options: object) -> History:
    (history,) = analyse([series(points)], name, **options)  # type: ignore[arg-type]
    return history


def plain(numbers: Sequence[float], **changes: object) -> list[Point]:
    return [point(number, value, **changes) for number, value in enumerate(numbers)]


def test_a_regression_names_the_runs_and_commits_around_it() -> None:
    history = one(plain(values(1, (30, 10.0), (10, 11.0))))
    (step,) = history.steps
    assert (step.before.run_id, step.after.run_id, step.after.commit) == ("run29", "run30", "c30")
    assert step.ratio is not None
    assert step.ratio.low <= 1.1 <= step.ratio.high
    assert (step.change, step.gone, step.environment) == (Change.WORSE, False, ())
    assert step.p_value is not None
    assert step.p_value < 1e-4
    assert history.alarm
    assert history.since == 10
    assert history.level is not None
    assert history.level.value == pytest.approx(11, rel=0.01)


@pytest.mark.parametrize(("name", "change"), [("latency_ms", Change.BETTER), ("throughput_per_s", Change.WORSE)])
def test_less_is_better_or_worse_as_the_metric_says(name: str, change: Change) -> None:
    history = one(plain(values(2, (30, 10.0), (10, 9.0))), name)
    assert [step.change for step in history.steps] == [change]
    assert history.alarm is (change is Change.WORSE)


def test_a_change_within_the_margin_is_no_alarm() -> None:
    numbers = values(3, (60, 10.0), (60, 10.1))
    assert [step.change for step in one(plain(numbers)).steps] == [Change.SAME]
    assert [step.change for step in one(plain(numbers), margin=0.001).steps] == [Change.WORSE]


def test_a_regression_that_went_away_is_told_but_no_alarm() -> None:
    history = one(plain(values(4, (30, 10.0), (10, 12.0), (15, 10.05))))
    assert [(step.change, step.gone) for step in history.steps] == [(Change.WORSE, True), (Change.BETTER, False)]
    assert not history.alarm


def test_a_regression_that_went_away_only_in_part_stays_an_alarm() -> None:
    history = one(plain(values(5, (30, 10.0), (10, 13.0), (15, 11.0))))
    assert [step.gone for step in history.steps] == [False, False]
    assert history.alarm


@pytest.mark.parametrize(
    ("changes", "cause"),
    [
        ({"driver": "d2"}, "driver d1 -> d2"),
        ({"software": (("torch", "2.1"),)}, "torch 2.0 -> 2.1"),
        ({"software": ()}, "torch 2.0 -> none"),
        ({"host_id": "other", "host": "other"}, "host h -> other"),
    ],
)
def test_a_step_with_a_new_environment_is_not_a_regression(changes: dict[str, object], cause: str) -> None:
    numbers = values(6, (30, 10.0), (20, 12.0))
    points = [point(n, v, **(changes if n >= 30 else {})) for n, v in enumerate(numbers)]
    history = one(points)
    assert history.steps == ()
    assert not history.alarm
    (step,) = history.environments
    assert step.environment == (cause,)
    assert (step.before.run_id, step.after.run_id, step.change) == ("run29", "run30", Change.WORSE)
    assert history.since == 20


def test_a_regression_beside_a_new_driver_is_still_found() -> None:
    numbers = values(7, (30, 10.0), (20, 12.0), (10, 14.0))
    history = one([point(n, v, driver="d1" if n < 30 else "d2") for n, v in enumerate(numbers)])
    assert [step.after.run_id for step in history.steps] == ["run50"]
    assert history.alarm


def test_hosts_that_take_turns_are_looked_at_apart() -> None:
    slow, fast = values(8, (30, 20.0)), values(9, (30, 10.0))
    points = []
    for number, (a, b) in enumerate(zip(slow, fast, strict=True)):
        points += [
            point(2 * number, a, host="slow", host_id="1", commit=f"k{number}"),
            point(2 * number + 1, b, host="fast", host_id="2", commit=f"k{number}"),
        ]
    history = one(points)
    assert history.steps == ()
    assert len(history.environments) == 1
    assert set(history.odd_hosts) == {"slow", "fast"}


def test_the_commit_or_the_host_is_suspected() -> None:
    def points(second: float) -> list[Point]:
        a, b = values(10, (20, 10.0), (10, 12.0)), values(11, (20, 10.0), (10, second))
        return [
            point(2 * n + k, v, host=host, host_id=host, commit=f"k{n}")
            for n, pair in enumerate(zip(a, b, strict=True))
            for k, (host, v) in enumerate(zip("ab", pair, strict=True))
        ]

    both = one(points(12.0)).steps
    assert [step.suspicion.what for step in both if step.suspicion] == [Suspect.COMMIT, Suspect.COMMIT]
    (alone,) = one(points(10.0)).steps
    assert alone.suspicion is not None
    assert (alone.suspicion.what, alone.suspicion.hosts) == (Suspect.HOST, ("a",))


def test_suspect_needs_more_than_one_host_that_tells() -> None:
    steady, slower = values(12, (9, 10.0)), values(13, (9, 12.0))
    assert suspect({"a": steady}, {"a": slower}, 0.02).what is Suspect.UNKNOWN
    assert suspect({"a": steady, "b": [10.0]}, {"a": slower, "b": [12.0]}, 0.02).what is Suspect.UNKNOWN
    assert suspect({"a": steady, "b": steady}, {"a": slower, "c": slower}, 0.02).what is Suspect.UNKNOWN
    most = {"a": slower, "b": slower, "c": steady}
    assert suspect(dict.fromkeys("abc", steady), most, 0.02).what is Suspect.UNKNOWN
    assert suspect({}, {}, 0.02).what is Suspect.UNKNOWN


def test_the_odd_host_is_the_one_away_from_the_middle() -> None:
    commits = [{"a": [10.0 + n], "b": [10.01 + n], "c": [12.0 + 1.2 * n]} for n in range(5)]
    odd = odd_hosts(commits, 0.02)
    assert set(odd) == {"c"}
    assert odd["c"].value == pytest.approx(1.2, rel=0.01)
    assert odd_hosts(commits[:2], 0.02) == {}
    assert odd_hosts([{"a": [0.0], "b": [1.0]}] * 5, 0.02) == {}


def test_what_is_no_result_takes_no_part() -> None:
    numbers = values(14, (30, 10.0))
    odd = [
        point(40, 99.0, status=Status.FAILED),
        point(41, 99.0, provenance=Provenance.SIMULATED),
        point(42, 99.0, provenance=Provenance.PREDICTED),
        point(43, None),
        point(44, math.nan),
        point(45, math.inf),
    ]
    assert len(one([*plain(numbers), *odd]).points) == 30
    assert len(one([*plain(numbers), *odd], made_up=True).points) == 32


def test_among_many_series_a_weak_change_does_not_stand_out() -> None:
    dice = np.random.default_rng(15)
    quiet = [series(plain(list(100 * np.exp(0.01 * dice.standard_normal(40))))) for _ in range(300)]
    weak = next(
        found
        for seed in range(100)
        if (found := series(plain(_with_step(seed, 2.2))))
        and len(analyse([found], "latency_ms")[0].steps) == 1
        and (analyse([found], "latency_ms")[0].steps[0].p_value or 0) > 1e-3
    )
    *_, judged = analyse([*quiet, weak], "latency_ms")
    assert (len(judged.steps), judged.doubted) == (0, 1)
    assert judged.since == 40
    clear = series(plain(_with_step(1, 9.0)))
    assert len(analyse([*quiet, clear], "latency_ms")[-1].steps) == 1


def _with_step(seed: int, size: float) -> list[float]:
    noise = np.random.default_rng(seed).standard_normal(40)
    return list(100 * np.exp(0.01 * (noise + size * (np.arange(40) >= 32))))


@pytest.mark.parametrize("numbers", [[], [3.0], [3.0, 4.0], [5.0] * 40, [0.0] * 40, [-1.0, 0.0, 1.0] * 10])
def test_odd_series_have_a_history_without_an_alarm(numbers: list[float]) -> None:
    history = one(plain(numbers))
    assert not history.alarm
    assert history.steps == ()
    assert (history.level is None) is (not numbers)
    assert history.smallest is None or 0 < history.smallest < 0.1


@settings(max_examples=50)
@given(st.lists(st.one_of(st.none(), st.floats(), st.floats(0.5, 2)), max_size=40), st.data())
def test_any_values_have_a_history_of_finite_numbers(numbers: list[float | None], data: st.DataObject) -> None:
    hosts = data.draw(st.lists(st.sampled_from("ab"), min_size=len(numbers), max_size=len(numbers)))
    points = [point(n, v, host=h, host_id=h) for n, (v, h) in enumerate(zip(numbers, hosts, strict=True))]
    history = one(points)
    intervals = [history.level, *(step.ratio for step in (*history.steps, *history.environments))]
    told = [bound for found in intervals if found for bound in (found.value, found.low, found.high)]
    assert all(map(math.isfinite, told))
    assert history.smallest is None or math.isfinite(history.smallest)
