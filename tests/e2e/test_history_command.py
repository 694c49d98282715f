"""`dyno history` as people call it."""

from __future__ import annotations

import json
import math
import subprocess
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from blank_store import blank_store
from conftest import Dyno
from modeldyno.core.types import Case, Device, Host, MetricValue, Record, Run, Status

BEGIN = datetime(2026, 3, 1, tzinfo=UTC)


def fill(
    path: Path,
    levels: dict[str, list[float]],
    driver: Callable[[int], str] = lambda _: "d1",
    host: Callable[[int], str] = lambda _: "h",
    commit: Callable[[int], int] = lambda day: day,
) -> None:
    """A run a day with a record for each model, all on machines of one kind."""
    items: list[Run | Record] = []
    for day, values in enumerate(zip(*levels.values(), strict=True)):
        moment = BEGIN + timedelta(days=day)
        machine = Host(host_id=host(day), hostname="bench", cpu="Chip", logical_cores=4)
        run = Run(started_at=moment, host=machine, command="c", version="0", commit=f"{commit(day):040x}")
        items.append(run)
        items += [
            Record(
                run_id=run.run_id,
                case=Case(model=model, platform="cpu", runtime="torch"),
                status=Status.OK,
                started_at=moment,
                device=Device(platform="cpu", index=0, name="Chip", driver=driver(day)),
                metrics={"latency_ms": MetricValue(value=value)},
            )
            for model, value in zip(levels, values, strict=True)
        ]
    blank_store(path).add(items)


def noisy(seed: int, *levels: tuple[int, float]) -> list[float]:
    dice = np.random.default_rng(seed)
    return [float(level * math.exp(0.005 * dice.standard_normal())) for count, level in levels for _ in range(count)]


@pytest.fixture
def filled(dyno_here: Dyno, tmp_path: Path) -> Dyno:
    levels = {"slower": noisy(1, (30, 10.0), (10, 11.5)), "steady": noisy(2, (40, 5.0)), "flat": [7.0] * 40}
    fill(tmp_path / "dyno.duckdb", levels)
    return dyno_here


def answer(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_the_change_comes_first_with_its_commit(filled: Dyno) -> None:
    told = answer(filled("history", "--json"))
    assert [series["case"]["model"] for series in told["series"]] == ["slower", "flat", "steady"]
    (change,) = told["series"][0]["changes"]
    assert change["after"]["commit"] == f"{30:040x}"
    assert (change["verdict"], change["alarm"], change["gone"]) == ("worse", True, False)
    assert change["ratio"]["low"] < 1.15 < change["ratio"]["high"]
    assert told["series"][1]["changes"] == told["series"][2]["changes"] == []
    assert told["false_discovery_rate"] == 0.05
    assert 0.005 < told["series"][2]["smallest_change"] < 0.03


def test_people_read_a_table_and_a_sentence_for_each_change(dyno: Dyno, filled: Dyno) -> None:
    done = dyno("history")
    assert done.returncode == 0
    assert "slower" in done.stdout
    assert "steady" not in done.stdout
    assert "2026-03-31" in done.stdout
    assert "2 of 3 series show no change; --all lists them." in done.stdout
    assert "nine of ten" in done.stderr
    assert "looked at alone" in done.stderr
    assert "steady" in filled("history", "--all").stdout


def test_filters_choose_series(filled: Dyno) -> None:
    assert len(answer(filled("history", "steady", "--model", "flat", "--json"))["series"]) == 2
    early = answer(filled("history", "slower", "--until", "2026-03-20", "--json"))
    assert early["series"][0]["changes"] == []


def test_a_new_driver_is_told_as_such(dyno_here: Dyno, tmp_path: Path) -> None:
    values = {"m": noisy(3, (20, 10.0), (20, 12.0))}
    fill(tmp_path / "dyno.duckdb", values, lambda day: "d1" if day < 20 else "d2")
    (series,) = answer(dyno_here("history", "--json"))["series"]
    assert (series["alarm"], series["changes"]) == (False, [])
    assert series["environment_changes"][0]["environment"] == ["driver d1 -> d2"]


def test_hosts_that_differ_have_a_section_of_their_own(dyno_here: Dyno, tmp_path: Path) -> None:
    values = [value for _ in range(20) for value in (10.0, 12.0)]
    fill(tmp_path / "dyno.duckdb", {"m": values}, host=lambda day: "ab"[day % 2], commit=lambda day: day // 2)
    (series,) = answer(dyno_here("history", "--json"))["series"]
    assert (series["changes"], series["environment_changes"], set(series["odd_hosts"])) == ([], [], {"a", "b"})
    told = dyno_here("history").stdout
    assert "1 of 1 series show no change" in told
    assert "Hosts that differ from equal ones at the same commits:\n  bench (a) is at 0.9" in told


def test_it_says_when_no_commit_is_new(dyno_here: Dyno, tmp_path: Path) -> None:
    fill(tmp_path / "dyno.duckdb", {"m": noisy(1, (30, 10.0), (10, 11.5))}, commit=lambda _: 7)
    assert "it is not the commit" in dyno_here("history").stdout


def test_one_point_is_too_few_to_say(dyno_here: Dyno, tmp_path: Path) -> None:
    fill(tmp_path / "dyno.duckdb", {"m": [5.0]})
    done = dyno_here("history", "--all")
    assert done.returncode == 0
    assert "1 of 1 series have fewer than 6 points, too few to see one." in done.stdout
    assert "show no change" not in done.stdout
    assert "±" not in done.stdout


def test_made_up_numbers_are_left_out_unless_asked_for(dyno_here: Dyno) -> None:
    answer(dyno_here("db", "init", "--sample-data", "--json"))
    assert "only simulated numbers" in dyno_here("history").stdout
    told = dyno_here("history", "--provenance", "simulated", "--all").stdout
    assert "simulated" in told


def test_refusals_are_sentences(dyno_here: Dyno) -> None:
    done = dyno_here("history")
    assert done.returncode == 2
    assert "There is no store" in done.stderr
    answer(dyno_here("db", "init", "--json"))
    assert "No measured value of latency_ms matches." in dyno_here("history").stdout
    done = dyno_here("history", "--metric", "latency")
    assert done.returncode == 2
    assert "Unknown metric 'latency', did you mean" in done.stderr
