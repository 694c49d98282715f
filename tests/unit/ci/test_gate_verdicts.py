"""The gate's judgement over blocks that are made up: who is worse, who is undecided, and when it may stop."""

from __future__ import annotations

import math
from collections.abc import Sequence

import pytest

from modeldyno.analysis.verdict import Change
from modeldyno.ci.gate import overall, verdicts
from modeldyno.ci.match import CONFIRM, Block, Match, Terms
from modeldyno.ci.report import GateVerdict
from modeldyno.core.types import Case, MetricValue, Outcome, OutputCheck, Samples, Status, Stop
from modeldyno.runner.processes import HERE
from modeldyno.runner.turns import Entrant, Result

WOBBLE = (0.0, 0.004, -0.003, 0.002, -0.004, 0.001, 0.003, -0.002)


def result(latency: float, memory: float | None = None) -> Result:
    samples = Samples(host_ms=[latency] * 3, stop=Stop.TURNS, steady=True)
    metrics = {} if memory is None else {"memory_peak_mb": MetricValue(value=memory)}
    return Result(Outcome(status=Status.OK, samples=samples, metrics=metrics), ((latency,) * 3,))


def match(effect: float = 0.0, blocks: int = 8, metrics: tuple[str, ...] = ("latency_ms",), model: str = "m") -> Match:
    """One whose blocks scatter a little around this effect."""
    case = Case(model=model, platform="cpu", runtime="torch")
    made = Match(Entrant(HERE, case), Entrant(HERE, case), Terms(metrics))
    for number in range(blocks):
        new = 10 * (1 + effect) * math.exp(WOBBLE[number % 8])
        again = 10 * math.exp(WOBBLE[(number + 3) % 8])
        made.blocks.append(Block(result(10.0, 100.0), result(new, 100.0), result(again, 100.0)))
    return made


def judged(*matches: Match) -> list[tuple[Change, bool]]:
    return [(case.change, case.regression) for case in verdicts(matches)]


def looked(made: Match) -> Match:
    made.look()
    made.confirm()
    return made


@pytest.mark.parametrize(
    ("effect", "change", "verdict"),
    [
        (0.0, Change.SAME, GateVerdict.OK),
        (0.05, Change.WORSE, GateVerdict.REGRESSION),
        (-0.05, Change.BETTER, GateVerdict.OK),
        (0.02, Change.AMBIGUOUS, GateVerdict.UNDECIDED),
    ],
)
def test_the_effect_decides(effect: float, change: Change, verdict: GateVerdict) -> None:
    made = looked(match(effect))
    cases = tuple(verdicts([made]))
    assert (cases[0].change, overall(cases)) == (change, verdict)
    assert cases[0].baseline == pytest.approx(10.0)
    assert made.is_over(0.05) is (change is not Change.AMBIGUOUS)


def test_an_alarm_that_fresh_blocks_do_not_confirm_is_none() -> None:
    made = match(0.05, blocks=5)
    made.look()
    assert made.suspects == ("latency_ms",)
    made.blocks += match(0.0, blocks=CONFIRM).blocks
    made.confirm()
    assert not made.confirmed
    assert judged(made) == [(Change.AMBIGUOUS, False)]
    assert not made.is_over(0.05)


def test_a_rate_falls_as_the_latency_rises() -> None:
    made = looked(match(0.05, metrics=("throughput_per_s", "latency_ms")))
    assert judged(made) == [(Change.WORSE, True)] * 2
    rate, _ = verdicts([made])
    assert rate.ratio.value == pytest.approx(1 / 1.05, rel=0.01)


def test_memory_that_does_not_move_is_the_same_and_a_metric_nobody_has_stops_nothing() -> None:
    made = looked(match(0.0, metrics=("latency_ms", "memory_peak_mb", "energy_j")))
    assert judged(made) == [(Change.SAME, False), (Change.SAME, False), (Change.AMBIGUOUS, False)]
    assert made.is_over(0.05)
    assert "there is no energy_j on the old and the new side" in [case.note for case in verdicts([made])]


def failed(status: Status = Status.FAILED, passed: bool | None = None) -> Outcome:
    check = None if passed is None else OutputCheck(reference="r", rel_l2=1.0, tolerance=0.1, passed=passed, compared=1)
    return Outcome(status=status, reason="it broke", check=check)


def obstructed(old: Outcome | None, new: Outcome | None) -> Match:
    made = match(0.0, blocks=3)
    made.old_obstacle, made.new_obstacle = old, new
    return made


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        (None, failed(), (Change.WORSE, True)),
        (None, failed(Status.INVALID, passed=False), (Change.WORSE, True)),
        (None, failed(Status.INVALID), (Change.AMBIGUOUS, False)),
        (None, failed(Status.SKIPPED), (Change.AMBIGUOUS, False)),
        (failed(), None, (Change.AMBIGUOUS, False)),
        (failed(), failed(), (Change.AMBIGUOUS, False)),
    ],
)
def test_only_a_new_side_that_is_broken_is_a_regression(
    old: Outcome | None, new: Outcome | None, expected: tuple[Change, bool]
) -> None:
    assert judged(obstructed(old, new)) == [expected]


def test_one_that_broke_after_a_look_does_not_shift_the_others() -> None:
    broken = looked(match(0.0))
    broken.old_obstacle = failed()
    assert judged(broken, looked(match(0.05, model="n")))[1] == (Change.WORSE, True)


def test_among_many_cases_an_alarm_must_be_rarer() -> None:
    weak = looked(match(0.026))
    assert weak.decisions["latency_ms"].change is Change.WORSE
    p = weak.decisions["latency_ms"].p_value or 1.0
    assert weak.is_over(0.05)
    assert not weak.is_over(p / 2)
    crowd = [looked(match(0.0, model=f"m{number}")) for number in range(round(0.05 / p) + 30)]
    assert judged(*crowd, weak)[-1] == (Change.AMBIGUOUS, False)


def scripted(outcomes: Sequence[tuple[Outcome, Outcome]], monkeypatch: pytest.MonkeyPatch) -> Match:
    """One whose blocks end as told, block by block."""
    made = match(blocks=0)
    script = iter(outcomes)

    def block(entrants: Sequence[Entrant], *_: object) -> tuple[Result, ...]:
        old, new = next(script)
        pair = (Result(new, ((1.0,),)), Result(old, ((1.0,),)))
        swapped = made.tries % 2 == 0
        return (*(pair if swapped else reversed(pair)), Result(old, ((1.0,),)))

    monkeypatch.setattr("modeldyno.ci.match.run_block", block)
    return made


def test_a_side_that_fails_once_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    good = Outcome(status=Status.OK)
    made = scripted([(good, failed()), (good, good)], monkeypatch)
    made.play()
    assert (len(made.blocks), made.is_obstructed) == (1, False)
    made = scripted([(good, failed()), (good, failed())], monkeypatch)
    made.play()
    assert (len(made.blocks), made.new_obstacle, made.old_obstacle) == (0, failed(), None)
