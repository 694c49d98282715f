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
from modeldyno.pool import Loader, Pool
from modeldyno.runner.assemble import assemble
from modeldyno.runner.suite import Block, expand, read_suite
from modeldyno.workloads import WORKLOADS
from modeldyno.workloads._pool import trials
from modeldyno.workloads._pool.cast import cast_of
from modeldyno.workloads._pool.rounds import InTurn

EXAMPLE = Path(__file__).parents[3] / "examples" / "pool.yaml"
FEW = policy("quick").model_copy(update={"samples": 6, "warmup_max_s": 0.01})


def case(**options: Any) -> Case:
    return Case(workload="pool", model="tiny-bert", platform="cpu", runtime="torch", shape={"seq": 16}, options=options)


def bench(one: Case) -> Bench:
    return Bench(one, FEW, PLATFORMS.get("cpu").open(0), 0, True, lambda text: None)


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> Outcome:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("DYNO_CACHE", str(tmp_path_factory.mktemp("cache")))
        return WORKLOADS.get("pool").run(bench(case(users=4, beside="tiny-vit")))


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
        with pytest.raises(UnknownName), trials._bystander(pool, failing):
            pass


def test_the_cast() -> None:
    cast = cast_of(case(users=5, beside="tiny-vit+tiny-opt", threads=1))
    assert [one.model for one in cast.models] == ["tiny-bert", "tiny-vit", "tiny-opt"]
    assert [one.model for one in cast.uses()] == ["tiny-bert", "tiny-vit", "tiny-opt", "tiny-bert", "tiny-vit"]
    assert {one.workload for one in cast.models} == {"inference"}
    assert cast.mine.options == {"threads": 1}, "what the runtime understands goes on"
    assert cast.beside[1].shape["seq"] == 16, "sizes are those of the case where the axis is the same"
    assert "seq" not in cast.beside[0].shape
    assert cast.others == cast.beside


def test_alone_a_model_stands_beside_itself_at_twice_the_batch() -> None:
    cast = cast_of(case())
    assert (cast.users, cast.beside) == (16, ())
    assert [(one.model, one.batch) for one in cast.others] == [("tiny-bert", 2)]
    assert cast.others[0].key != cast.mine.key


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
