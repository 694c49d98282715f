"""The workload pool: what takes part, what a round is, what a failed promise does to the record."""

from __future__ import annotations

import threading
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.core.policy import policy
from modeldyno.core.protocols import Bench
from modeldyno.core.types import Case, Outcome, Status, Verdict
from modeldyno.platforms import PLATFORMS
from modeldyno.pool import Loader, Pool, PoolState
from modeldyno.pool.books import Books
from modeldyno.runner.assemble import assemble
from modeldyno.runner.suite import Block, expand, read_suite
from modeldyno.workloads import WORKLOADS
from modeldyno.workloads._pool import trials
from modeldyno.workloads._pool.bystander import Span, bystander, went_on
from modeldyno.workloads._pool.cast import cast_of, others_of
from modeldyno.workloads._pool.rounds import InTurn

EXAMPLE = Path(__file__).parents[3] / "examples" / "pool.yaml"
FEW = policy("quick").model_copy(update={"samples": 6, "warmup_max_s": 0.01})


def case(model: str = "tiny-bert", **options: Any) -> Case:
    return Case(workload="pool", model=model, platform="cpu", runtime="torch", shape={"seq": 16}, options=options)


def bench(one: Case, trial: bool = False) -> Bench:
    return Bench(one, FEW, PLATFORMS.get("cpu").open(0), 0, True, lambda text: None, trial=trial)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNO_CACHE", str(tmp_path_factory.mktemp("cache")))
        return WORKLOADS.get("pool").run(bench(case("bert-tiny", users=4)))


def test_every_promise_of_the_pool_is_measured(measured: Outcome) -> None:
    assert measured.status is Status.OK, measured.reason
    assert measured.check and measured.check.passed
    assert measured.placement and measured.placement.device == "cpu"
    record = assemble("run", case(users=4), [measured], datetime.now(UTC), 1.0)
    assert record.value("items") == 4
    assert record.value("throughput_per_s") == pytest.approx(4e3 / (record.value("latency_ms") or 0))
    assert record.value("loads") == 1
    assert record.value("evictions") == 3, "two models twice in turn where one fits: all but the first push one out"
    shared, unshared = record.value("memory_shared_mb"), record.value("memory_unshared_mb")
    assert shared and unshared and shared < unshared
    for name in ("sequential_per_s", "concurrency_gain", "borrow_us", "recovery_ms"):
        assert (record.value(name) or 0) > 0


def test_its_passport_holds_the_pool_to_its_promises(measured: Outcome) -> None:
    assert measured.passport
    verdicts = {check.name: check.verdict for check in measured.passport.checks}
    assert {verdicts[name] for name in ("loads", "others_went_on", "budget_mb")} == {Verdict.VALID}


def test_a_pool_that_loads_twice_breaks_its_promise() -> None:
    with Pool(loader=Loader(lambda _: PLATFORMS.get("cpu").open(0))) as pool:
        pool._loads += 1
        tried = trials.loads_at_once(pool, cast_of(case(users=3)))
    assert tried.checks[0].verdict is Verdict.INVALID
    assert tried.metrics["loads"].value == 2


def test_an_error_of_the_bystander_is_an_error_of_the_case() -> None:
    one = cast_of(case(users=2)).mine
    with Pool(loader=Loader(lambda _: PLATFORMS.get("cpu").open(0))) as pool:
        failing = Case.model_validate({**one.model_dump(), "precision": "fp16", "model": "no-such-model"})
        with pytest.raises(UnknownName), bystander(pool, failing):
            pass


def test_a_bystander_has_to_get_a_turn_after_each_failure() -> None:
    recovery = Span(10.0, 12.0)
    assert went_on([Span(9.0, 10.5), Span(10.5, 11.0)], recovery)
    assert went_on([Span(9.0, 13.0), Span(13.0, 17.0)], recovery), "a long step was under way all the while"
    assert not went_on([Span(9.0, 10.5), Span(12.1, 12.5)], recovery), "it stood still until the model was back"
    assert not went_on([Span(9.0, 13.0)], recovery)


class NeverEvicts(Books):
    def _evict_for(self, account: str, mb: float) -> list[Any]:
        return []


def test_a_pool_that_never_evicts_breaks_its_promise(monkeypatch: pytest.MonkeyPatch) -> None:
    one = cast_of(case("bert-tiny"))
    everyone = (one.mine, *others_of(one))
    assert trials.budget(bench(one.mine), everyone).checks[0].verdict is Verdict.VALID
    monkeypatch.setattr("modeldyno.pool.pool.Books", NeverEvicts)
    (check,) = trials.budget(bench(one.mine), everyone).checks
    assert check.verdict is Verdict.INVALID
    assert check.value > check.limit + min(trials.SLACK_MB, 16.9 / 4), "resident memory alone tells, too"


@pytest.mark.parametrize(
    ("peak", "most", "evictions", "good"),
    [
        (14.0, 14.0, 3, True),
        (14.0, 16.0, 3, True),
        (20.0, 14.0, 3, False),
        (14.0, 20.0, 3, False),
        (14.0, 14.0, 0, False),
    ],
)
def test_the_budget_is_kept_in_the_books_in_memory_and_by_evicting(
    peak: float, most: float, evictions: int, good: bool
) -> None:
    """Models of 10 MB in a pool for 15 MB."""
    state = PoolState({}, {}, {"host": peak}, loads=4, evictions=evictions)
    assert trials._kept(state, "host", [10.0, 10.0], most) is good


def test_a_model_read_as_larger_than_the_budget_ends_that_trial_only(monkeypatch: pytest.MonkeyPatch) -> None:
    one = cast_of(case("bert-tiny"))
    monkeypatch.setattr(trials, "_size_mb", lambda *_: 5.0)
    tried = trials.budget(bench(one.mine), (one.mine, *others_of(one)))
    assert tried.checks == ()
    assert tried.metrics["evictions"].value is None
    assert "larger" in (tried.metrics["evictions"].note or "")


def test_nobody_beside_is_told_and_recovery_is_measured_all_the_same() -> None:
    one = cast_of(case())
    assert "beside" in (trials.budget(bench(one.mine), (one.mine,)).metrics["evictions"].note or "")
    tried = trials.recovery(bench(one.mine), one.mine, ())
    assert len(tried.parts["recovery_ms"]) == trials.RECOVERIES
    assert tried.checks == ()


def test_a_trial_loads_and_steps_and_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    used: list[str] = []
    monkeypatch.setattr(trials, "loads_at_once", None)
    really = trials.use
    monkeypatch.setattr(trials, "use", lambda pool, one: (used.append(one.model), really(pool, one)))
    outcome = WORKLOADS.get("pool").run(bench(case(beside="tiny-vit"), trial=True))
    assert (outcome.status, outcome.metrics, used) == (Status.OK, {}, ["tiny-bert", "tiny-vit"])


def test_the_cast() -> None:
    cast = cast_of(case(users=5, beside="tiny-vit+tiny-opt", threads=1))
    assert [one.model for one in cast.models] == ["tiny-bert", "tiny-vit", "tiny-opt"]
    assert [one.model for one in cast.uses()] == ["tiny-bert", "tiny-vit", "tiny-opt", "tiny-bert", "tiny-vit"]
    assert {one.workload for one in cast.models} == {"inference"}
    assert cast.mine.options == {"threads": 1}, "what the runtime understands goes on"
    assert cast.beside[1].shape["seq"] == 16, "sizes are those of the case where the axis is the same"
    assert "seq" not in cast.beside[0].shape
    assert others_of(cast) == cast.beside


def test_alone_a_model_stands_beside_itself_at_a_smaller_size() -> None:
    cast = cast_of(case())
    assert (cast.users, cast.beside) == (16, ())
    assert [(one.model, one.batch, one.shape["seq"]) for one in others_of(cast)] == [("tiny-bert", 1, 8)]
    larger = cast_of(Case.model_validate({**case().model_dump(), "batch": 4}))
    assert [(one.batch, one.shape["seq"]) for one in others_of(larger)] == [(1, 16)]


def test_a_model_without_a_smaller_size_stands_alone() -> None:
    one = Case(workload="pool", model="tiny-vit", platform="cpu", runtime="torch")
    assert others_of(cast_of(one)) == ()
    assert len(others_of(cast_of(Case.model_validate({**one.model_dump(), "batch": 2})))) == 1


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"users": 0}, "The option users is a number from 1 to 256, not 0; write users=16."),
        ({"users": "many"}, "not 'many'"),
        ({"users": True}, "not True"),
        ({"beside": "tiny-vit+tiny-vit"}, "names a model twice"),
        ({"beside": "tiny-bert"}, "names a model twice"),
        ({"beside": "tiny-vat"}, "did you mean 'tiny-vit'"),
    ],
)
def test_wrong_options_are_told_before_anything_runs(options: dict[str, Any], text: str) -> None:
    with pytest.raises(InputError, match=text):
        list(expand(Block(model=["tiny-bert"], on=["cpu"], workload=["pool"], options=options)))


def test_a_round_in_turn_reads_what_borrowing_takes_once_a_round() -> None:
    one = cast_of(case(users=3))
    with Pool(loader=Loader(lambda _: PLATFORMS.get("cpu").open(0))) as pool:
        step = InTurn(pool, one.uses())
        step()
        step()
        assert len(step.read()["borrow_us"]) == 2
        assert step.read()["borrow_us"] == []


def test_works_at_once_have_a_thread_each() -> None:
    from concurrent.futures import ThreadPoolExecutor

    seen: set[int] = set()
    with ThreadPoolExecutor(6) as crew:
        trials._at_once(crew, [lambda: seen.add(threading.get_ident())] * 6)
    assert len(seen) == 6


def test_the_example_is_a_suite_of_pool_cases() -> None:
    cases = read_suite(EXAMPLE).cases()
    assert {one.workload for one in cases} == {"pool"}
    assert {one.options.get("beside") for one in cases} == {None, "tiny-vit+tiny-opt"}
