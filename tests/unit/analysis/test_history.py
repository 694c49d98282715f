"""Histories: regressions told from new drivers, bad hosts and what went away."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from modeldyno.analysis.environments import differences, environment_of
from modeldyno.analysis.history import History, analyse
from modeldyno.analysis.hosts import Suspect, Suspicion, odd_hosts, suspect
from modeldyno.analysis.verdict import Change
from modeldyno.core.types import Case, Host, Provenance, Status
from modeldyno.store.points import Point, Series

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)
CASE = Case(model="m", platform="cpu", runtime="torch")


def host(host_id: str, **changes: object) -> Host:
    """Machines of one kind."""
    facts = {"hostname": "bench", "system": "Linux 6", "cpu": "Chip", "logical_cores": 8, "memory_mb": 64_300}
    return Host.model_validate(facts | {"host_id": host_id, "python": "3.11.4"} | changes)


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
        "host": host("h"),
        "index": 0,
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
        ({"host": host("h", cpu="Other")}, "cpu Chip -> Other"),
        ({"host": host("h", logical_cores=4)}, "cores 8 -> 4"),
        ({"host": host("h", memory_mb=128_600)}, "memory GB 63 -> 126"),
        ({"host": host("h", system="Linux 7")}, "system Linux 6 -> Linux 7"),
        ({"host": host("h", python="3.12.0")}, "python 3.11 -> 3.12"),
        ({"index": 1}, "device 0 -> 1"),
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


def test_every_run_on_a_new_machine_of_the_same_kind_is_one_history() -> None:
    """As on the runners of a CI service and in containers."""
    numbers = values(16, (30, 10.0), (10, 11.0))
    history = one([point(n, v, host=host(f"h{n}", hostname=f"runner{n}")) for n, v in enumerate(numbers)])
    assert history.environments == ()
    assert [step.after.run_id for step in history.steps] == ["run30"]
    assert history.since == 10


def test_small_differences_of_one_machine_are_none() -> None:
    changes = [{}, {"memory_mb": 64_312.3}, {"python": "3.11.9"}, {"hostname": "renamed"}]
    assert len({environment_of(point(0, 1.0, host=host("h", **change))) for change in changes}) == 1


def test_of_machines_of_which_nothing_is_known_none_is_taken_for_another() -> None:
    unknown = [point(0, 1.0, host=Host(host_id=name, hostname="same")) for name in "ab"]
    assert environment_of(unknown[0]) != environment_of(unknown[1])
    assert differences(*unknown) == ("host a -> b",)


def test_equal_devices_of_one_host_are_looked_at_apart() -> None:
    numbers = [value for pair in zip(values(8, (30, 20.0)), values(9, (30, 10.0)), strict=True) for value in pair]
    history = one([point(n, v, index=n % 2) for n, v in enumerate(numbers)])
    assert history.steps == ()
    assert [step.environment for step in history.environments] == [("device 0 -> 1",)]


def taking_turns(a: Sequence[float], b: Sequence[float], second: dict[str, object] | None = None) -> list[Point]:
    """Each commit on host a and on host b, which may be of another kind."""
    kinds = [{"host": host("a")}, {"host": host("b")} | (second or {})]
    return [
        point(2 * n + k, v, commit=f"k{n}", **kinds[k])
        for n, pair in enumerate(zip(a, b, strict=True))
        for k, v in enumerate(pair)
    ]


def test_a_host_that_differs_from_equal_ones_is_odd_but_no_change() -> None:
    slow, fast = values(8, (30, 20.0)), values(9, (30, 10.0))
    history = one(taking_turns(slow, fast))
    assert set(history.odd_hosts) == {"a", "b"}, "by their ids, for their names are the same"
    assert not history.changed


@pytest.mark.parametrize("other", [{"driver": "d2"}, {"software": ()}, {"host": host("b", cpu="Slow")}])
def test_no_host_is_blamed_for_its_environment(other: dict[str, object]) -> None:
    assert one(taking_turns(values(8, (30, 20.0)), values(9, (30, 10.0)), other)).odd_hosts == {}


def test_the_commit_or_the_host_is_suspected() -> None:
    def suspicions(second: float, cpu: str) -> list[Suspicion | None]:
        a, b = values(10, (20, 10.0), (10, 12.0)), values(11, (20, 10.0), (10, second))
        return [step.suspicion for step in one(taking_turns(a, b, {"host": host("b", cpu=cpu)})).steps]

    commit, bad_host = Suspicion(Suspect.COMMIT, ("a", "b")), Suspicion(Suspect.HOST, ("a",))
    assert suspicions(12.0, "Chip") == [commit], "equal machines have one history"
    assert suspicions(12.0, "Other") == [commit, commit]
    assert suspicions(10.0, "Chip") == suspicions(10.0, "Other") == [bad_host]


def test_a_host_with_a_new_driver_is_no_witness() -> None:
    points = taking_turns(values(10, (20, 10.0), (10, 12.0)), values(11, (20, 10.0), (10, 12.0)))
    changed = [dataclasses.replace(p, driver="d2") if p.host_id == "b" and n >= 40 else p for n, p in enumerate(points)]
    (step,) = one(changed).steps
    assert step.suspicion is not None
    assert step.suspicion.what is Suspect.UNKNOWN


def test_where_no_commit_is_new_it_is_not_the_commit() -> None:
    (step,) = one(plain(values(1, (30, 10.0), (10, 11.0)), commit="same")).steps
    assert step.suspicion is not None
    assert step.suspicion.what is Suspect.NOT_COMMIT


def test_suspect_needs_more_than_one_host_that_tells() -> None:
    steady, slower = values(12, (9, 10.0)), values(13, (9, 12.0))

    def what(before: dict[str, list[float]], after: dict[str, list[float]]) -> Suspect:
        sides = [{(host_id, ()): found for host_id, found in side.items()} for side in (before, after)]
        return suspect(*sides, 0.02).what

    assert what({"a": steady}, {"a": slower}) is Suspect.UNKNOWN
    assert what({"a": steady, "b": [10.0]}, {"a": slower, "b": [12.0]}) is Suspect.UNKNOWN
    assert what({"a": steady, "b": steady}, {"a": slower, "c": slower}) is Suspect.UNKNOWN
    assert what(dict.fromkeys("abc", steady), {"a": slower, "b": slower, "c": steady}) is Suspect.UNKNOWN
    assert what(dict.fromkeys("ab", steady), {"a": slower, "b": [8.0] * 9}) is Suspect.UNKNOWN
    assert what({}, {}) is Suspect.UNKNOWN


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


def test_series_too_short_to_be_asked_do_not_hide_a_change() -> None:
    short = [series(plain([10.0] * 5))] * 2000
    clear = series(plain(_with_step(1, 3.0)))
    (alone,) = analyse([clear], "latency_ms")
    assert len(alone.steps) == 1
    assert (alone.steps[0].p_value or 0) > 0.05 / 2000, "among 2000 questions it would not stand out"
    assert len(analyse([*short, clear], "latency_ms")[-1].steps) == 1


def test_a_new_environment_without_a_certain_difference_is_no_change() -> None:
    fresh = one([point(n, v, driver="d1" if n < 30 else "d2") for n, v in enumerate(values(6, (30, 10.0), (2, 12.0)))])
    assert [step.change for step in fresh.environments] == [Change.AMBIGUOUS]
    assert not fresh.changed
    slower = one([point(n, v, driver="d1" if n < 30 else "d2") for n, v in enumerate(values(6, (30, 10.0), (9, 12.0)))])
    assert slower.changed


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
    points = [point(n, v, host=host(h)) for n, (v, h) in enumerate(zip(numbers, hosts, strict=True))]
    history = one(points)
    intervals = [history.level, *(step.ratio for step in (*history.steps, *history.environments))]
    told = [bound for found in intervals if found for bound in (found.value, found.low, found.high)]
    assert all(map(math.isfinite, told))
    assert history.smallest is None or math.isfinite(history.smallest)
