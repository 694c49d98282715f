"""Real workers that take turns: only one at work at a time, and a crash of one ends the block, not the gate."""

from __future__ import annotations

import pytest
from test_isolate import POLICY, case

from modeldyno.core.types import Status, Stop
from modeldyno.runner.processes import HERE
from modeldyno.runner.turns import READY, Entrant, Pace, Result, prepare, run_block


def block(*workloads: str, timeout_s: float = 60.0) -> tuple[Result, ...]:
    entrants = [Entrant(HERE, case(workload)) for workload in workloads]
    return run_block(entrants, POLICY, Pace(3, 0.02), timeout_s)


def test_each_takes_its_turns_and_ends_with_all_its_samples() -> None:
    results = block("fault-none", "fault-none")
    for result in results:
        samples = result.outcome.samples
        assert result.outcome.status is Status.OK
        assert len(result.turns) == 3
        assert samples is not None
        assert samples.stop is Stop.TURNS
        assert samples.host_ms == [sample for turn in result.turns for sample in turn]


@pytest.mark.parametrize(
    ("workload", "status", "words"),
    [
        ("fault-segfault", Status.FAILED, "SIGSEGV"),
        ("fault-raise", Status.FAILED, "holiday"),
        ("fault-alone", Status.SKIPPED, "does not sample in turns"),
    ],
)
def test_one_that_cannot_take_part_is_told_and_the_other_ends_well(workload: str, status: Status, words: str) -> None:
    good, bad = block("fault-none", workload)
    assert (good.outcome, good.turns) == (READY, ())
    assert bad.outcome.status is status
    assert words in (bad.outcome.reason or "")


def test_one_that_hangs_is_killed() -> None:
    good, bad = block("fault-none", "fault-hang", timeout_s=4.0)
    assert good.outcome is READY
    assert bad.outcome.status is Status.FAILED
    assert "no result within 4 s" in (bad.outcome.reason or "")


def test_a_workload_without_anything_to_prepare_is_ready() -> None:
    assert prepare(Entrant(HERE, case("fault-segfault")), POLICY, 60.0).status is Status.OK


def test_slow_steps_get_fewer_rounds() -> None:
    entrants = [Entrant(HERE, case("fault-none"))] * 2
    results = run_block(entrants, POLICY, Pace(rounds=20, turn_s=0.01, longest_s=0.0), 60.0)
    assert [len(result.turns) for result in results] == [4, 4]
