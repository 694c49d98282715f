"""The pool under races and faults, with doubles for models; test_pool_real_models.py has the real thing."""

from __future__ import annotations

import gc
import threading
import time
import weakref
from typing import Any

import pytest
from pool_doubles import SOON_S, Shelf, case, together

from modeldyno.core.errors import JobError
from modeldyno.pool import Broken, Closed, NoRoom, Pool, Resting, StillLoading, TooLarge

A, B, C = case("a"), case("b"), case("c")


def use(pool: Pool, *cases: Any) -> None:
    for one in cases:
        with pool.borrow(one) as loaded:
            loaded.step()


def test_sixteen_requests_at_once_are_one_load() -> None:
    shelf = Shelf()
    shelf.hook = lambda _: time.sleep(0.05)  # keeps the load under way while the others come
    with Pool(loader=shelf) as pool:
        results = together(16, lambda _: use(pool, A))
        assert results == [None] * 16
        assert shelf.loads == {"a": 1}
        assert pool.state().loads == 1


def test_a_failing_load_fails_all_who_wait_and_the_next_request_tries_anew() -> None:
    shelf, asking = Shelf(), threading.Semaphore(0)

    def fail(_: object) -> None:
        for _ in range(9):
            assert asking.acquire(timeout=SOON_S)
        time.sleep(0.1)  # all have asked; the eight others now wait for this load
        raise RuntimeError("no such weights")

    shelf.hook = fail
    with Pool(loader=shelf) as pool:

        def ask(_: int) -> None:
            asking.release()
            use(pool, A)

        assert [str(error) for error in together(9, ask)] == ["no such weights"] * 9
        assert shelf.loads == {"a": 1}
        shelf.hook = lambda _: None
        use(pool, A)
        assert shelf.loads == {"a": 2}


def test_one_step_at_a_time_unless_the_runtime_allows_more() -> None:
    for allowed in (1, 3):
        shelf = Shelf(at_once=allowed)
        with Pool(loader=shelf) as pool:
            use(pool, A)
            weight = shelf.made["a"]
            weight.act = lambda: time.sleep(0.02)
            together(6, lambda _, pool=pool: use(pool, A))
            assert weight.most_inside == allowed


def test_nobody_waits_for_another_models_load_or_step() -> None:
    shelf, go_on = Shelf(), threading.Event()
    with Pool(loader=shelf) as pool:
        use(pool, A, B)
        shelf.hook = lambda _: go_on.wait(SOON_S) and None
        shelf.made["a"].act = lambda: go_on.wait(SOON_S)
        busy = [threading.Thread(target=use, args=(pool, one)) for one in (A, C)]
        for thread in busy:
            thread.start()
        while not (shelf.made["a"].inside and shelf.loads["c"]):
            time.sleep(0.001)
        use(pool, B)
        assert shelf.made["b"].steps == 2
        go_on.set()
        for thread in busy:
            thread.join(SOON_S)


def test_the_least_recently_used_goes_and_the_budget_is_kept() -> None:
    shelf = Shelf({"a": 40, "b": 40, "c": 40})
    with Pool(100, loader=shelf) as pool:
        use(pool, A, B, A, C)
        assert tuple(pool.state().models) == (A, C)
        use(pool, B)
        state = pool.state()
        assert (tuple(state.models), state.evictions, state.held_mb) == ((C, B), 2, {"host": 80})
        assert state.peak_mb["host"] <= 100


def test_an_evicted_model_is_really_let_go() -> None:
    shelf = Shelf({"a": 60, "b": 60})
    with Pool(100, loader=shelf) as pool:
        with pool.borrow(A) as loaded:
            loaded.step()
        gone = weakref.ref(shelf.made.pop("a"))
        use(pool, B)
        gc.collect()
        assert gone() is None
        with pytest.raises(JobError, match="given back"):
            loaded.step()


def test_a_model_in_use_is_never_evicted_and_waiting_for_room_ends() -> None:
    shelf = Shelf({"a": 60, "b": 60})
    with Pool(100, loader=shelf) as pool:
        with pool.borrow(A) as loaded:
            begin = time.monotonic()
            with (
                pytest.raises(NoRoom, match=r"no room for b .*60 MB.* in use; give some"),
                pool.borrow(B, 0.1),
            ):
                pass
            assert time.monotonic() - begin < SOON_S
            loaded.step()
        use(pool, B)
        assert shelf.loads == {"a": 1, "b": 2}, "loaded once to learn its size, once when there was room"


def test_room_that_becomes_free_is_taken_by_who_waits() -> None:
    shelf = Shelf({"a": 60, "b": 60})
    with Pool(100, loader=shelf) as pool:
        with pool.borrow(A):
            waiting = threading.Thread(target=use, args=(pool, B))
            waiting.start()
            while shelf.loads["b"] < 1:
                time.sleep(0.001)
        waiting.join(SOON_S)
        assert not waiting.is_alive()
        assert tuple(pool.state().models) == (B,)


def test_the_patience_of_one_is_not_that_of_another() -> None:
    shelf = Shelf({"a": 60, "b": 60})

    def give_up() -> None:
        with pytest.raises(NoRoom), pool.borrow(B, 0.3):
            pass

    with Pool(100, loader=shelf) as pool:
        impatient, patient = threading.Thread(target=give_up), threading.Thread(target=use, args=(pool, B))
        with pool.borrow(A):
            impatient.start()
            while shelf.loads["b"] < 1:
                time.sleep(0.001)
            patient.start()  # waits for the load of the other
            impatient.join(SOON_S)
        patient.join(SOON_S)
        assert tuple(pool.state().models) == (B,)


def test_waiting_for_anothers_load_has_a_limit_of_its_own_or_none() -> None:
    for limit in (0.05, None):
        shelf, go_on = Shelf(), threading.Event()
        shelf.hook = lambda _, go_on=go_on: go_on.wait(SOON_S) and None
        with Pool(loader=shelf, patience_s=0.01, load_patience_s=limit) as pool:
            loading = threading.Thread(target=use, args=(pool, A))
            loading.start()
            while not shelf.loads["a"]:
                time.sleep(0.001)
            if limit:
                with pytest.raises(StillLoading, match=r"a .* was still being loaded .* after 0.05 s; borrow it later"):
                    use(pool, A)
            threading.Timer(0.1, go_on.set).start()
            if limit is None:
                use(pool, A)
                assert shelf.made["a"].steps >= 1
            loading.join(SOON_S)


def test_the_time_of_a_load_is_not_taken_from_the_patience_for_room() -> None:
    shelf = Shelf({"a": 60, "b": 60})
    with Pool(100, loader=shelf, patience_s=0.3) as pool:
        with pool.borrow(A):
            shelf.hook = lambda _: time.sleep(0.4)
            waiting = threading.Thread(target=use, args=(pool, B))
            waiting.start()
            while not shelf.loads["b"]:
                time.sleep(0.001)
            time.sleep(0.45)  # b is loaded, found too large for the room there is, and waits
        waiting.join(SOON_S)
        assert tuple(pool.state().models) == (B,)


def test_a_model_larger_than_the_budget_is_refused_and_the_others_stay() -> None:
    shelf = Shelf({"a": 40, "b": 200})
    with Pool(100, loader=shelf) as pool:
        use(pool, A)
        for _ in range(2):
            with pytest.raises(TooLarge, match=r"b .* takes 200 MB, more than the pool's budget of 100 MB; raise"):
                use(pool, B)
        assert tuple(pool.state().models) == (A,)


def test_a_failing_step_breaks_its_model_only_and_the_next_borrow_reloads_it() -> None:
    shelf = Shelf()
    with Pool(loader=shelf) as pool, pool.borrow(A) as mine, pool.borrow(A) as yours, pool.borrow(B) as other:
        shelf.made["a"].act = lambda: 1 / 0
        with pytest.raises(ZeroDivisionError):
            mine.step()
        with pytest.raises(Broken, match=r"failed for another borrower with 'ZeroDivisionError: .*'; borrow it again"):
            yours.step()
        other.step()
        with pool.borrow(A) as anew:
            anew.step()
        assert shelf.loads == {"a": 2, "b": 1}


def test_an_error_of_the_borrower_does_not_break_the_model() -> None:
    shelf = Shelf()
    with Pool(loader=shelf) as pool:
        with pytest.raises(KeyError), pool.borrow(A):
            raise KeyError("mine")
        use(pool, A)
        assert shelf.loads == {"a": 1}


def test_a_broken_model_counts_until_its_last_borrower_has_gone() -> None:
    shelf = Shelf({"a": 60, "b": 60})
    with Pool(100, loader=shelf) as pool:
        with pool.borrow(A) as loaded:
            shelf.made["a"].act = lambda: 1 / 0
            with pytest.raises(ZeroDivisionError):
                loaded.step()
            assert tuple(pool.state().models) == ()
            with pytest.raises(NoRoom), pool.borrow(B, 0.05):
                pass
        use(pool, B)


def test_after_three_failures_in_a_row_a_model_rests_with_the_reason() -> None:
    shelf = Shelf()

    def fail(one: Any) -> None:
        if one == A:
            raise OSError("disk full")

    shelf.hook = fail
    with Pool(loader=shelf, rest_s=0.2) as pool:
        for _ in range(3):
            with pytest.raises(OSError, match="disk full"):
                use(pool, A)
        with pytest.raises(Resting, match=r"a .* failed 3 times in a row, at last with 'OSError: disk full'; mend"):
            use(pool, A)
        assert shelf.loads["a"] == 3, "a resting model is not tried"
        use(pool, B)
        shelf.hook = lambda _: None
        deadline = time.monotonic() + SOON_S
        while shelf.loads["a"] == 3 and time.monotonic() < deadline:
            try:
                use(pool, A)
            except Resting:
                time.sleep(0.02)
        assert shelf.loads["a"] == 4


def test_a_model_that_loads_but_never_steps_rests_too_and_a_good_step_sets_the_count_back() -> None:
    shelf = Shelf()

    def fail_once(pool: Pool) -> None:
        with pool.borrow(A) as loaded:
            shelf.made["a"].act = lambda: 1 / 0
            with pytest.raises(ZeroDivisionError):
                loaded.step()

    with Pool(loader=shelf) as pool:
        for _ in range(2):
            fail_once(pool)
        use(pool, A)
        for _ in range(3):
            fail_once(pool)
        with pytest.raises(Resting):
            use(pool, A)


def test_close_waits_for_borrowers_then_lets_all_go() -> None:
    shelf, holds = Shelf(), threading.Event()
    pool = Pool(loader=shelf)

    def borrow() -> None:
        with pool.borrow(A) as loaded:
            holds.set()
            time.sleep(0.05)
            loaded.step()

    borrower = threading.Thread(target=borrow)
    borrower.start()
    assert holds.wait(SOON_S)
    pool.close()
    assert shelf.made["a"].steps == 1
    assert shelf.closed and tuple(pool.state().models) == ()
    with pytest.raises(Closed, match="make a new one"):
        use(pool, A)
    borrower.join(SOON_S)


def test_close_says_who_did_not_give_back() -> None:
    pool = Pool(loader=Shelf(), patience_s=0.05)
    with pool.borrow(A), pytest.raises(JobError, match=r"a .* was not given back in 0 s; end its users"):
        pool.close()


def test_a_crowd_on_more_models_than_fit_keeps_the_books_straight() -> None:
    """Sixteen threads, six models of which three fit, one of them failing now and then."""
    names = ["a", "b", "c", "d", "e", "f"]
    shelf = Shelf(dict.fromkeys(names, 30.0))
    with Pool(100, loader=shelf, trips=10_000) as pool:

        def work(number: int) -> int:
            done = 0
            for turn in range(40):
                one = case(names[(number * 7 + turn * (number + 1)) % 6])
                with pool.borrow(one) as loaded:
                    if one.model == "f" and turn % 5 == 0:
                        shelf.made["f"].act = lambda: 1 / 0
                    try:
                        loaded.step()
                    except (ZeroDivisionError, Broken):
                        assert one.model == "f"
                    done += 1
            return done

        assert together(16, work) == [40] * 16
        state = pool.state()
        assert state.held_mb["host"] == 30 * len(state.models) <= 100
        assert state.peak_mb["host"] <= 100
        assert state.evictions > 0
