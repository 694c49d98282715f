"""When a model rests, and who goes when room is wanted."""

from __future__ import annotations

import pytest
from pool_doubles import Shelf, case

from modeldyno.pool import Model, Resting, TooLarge
from modeldyno.pool.books import Books
from modeldyno.pool.breaker import Breaker


def test_after_the_rest_one_failure_is_enough_to_rest_again() -> None:
    now = [0.0]
    breaker = Breaker(2, 10.0, clock=lambda: now[0])
    breaker.failed("x")
    breaker.check("m")
    breaker.failed("y")
    with pytest.raises(Resting, match="m failed 2 times in a row, at last with 'y'; mend that, or try again in 10 s"):
        breaker.check("m")
    now[0] = 10.5
    breaker.check("m")
    breaker.failed("z")
    with pytest.raises(Resting, match="3 times"):
        breaker.check("m")


def test_a_success_sets_the_count_back() -> None:
    breaker = Breaker(2, 10.0)
    breaker.failed("x")
    breaker.worked()
    breaker.failed("x")
    breaker.check("m")


def model(name: str, mb: float, account: str = "host") -> Model:
    made = Shelf({name: mb}).load(case(name))
    made.account = account
    return made


def taken(books: Books, one: Model) -> list[str] | None:
    gone = books.admit(one)
    if gone is not None:
        books.give_back(one)
    return None if gone is None else [each.case.model for each in gone]


def test_no_more_go_than_have_to() -> None:
    books = Books(100)
    assert [taken(books, model(name, 30)) for name in "abc"] == [[], [], []]
    assert taken(books, model("d", 35)) == ["a"]
    assert books.held_mb("host") == 95


def test_memory_of_a_device_is_an_account_of_its_own() -> None:
    books = Books(100)
    assert taken(books, model("a", 80)) == []
    assert taken(books, model("b", 80, "some:0")) == []
    assert taken(books, model("c", 80, "some:0")) == ["b"]
    assert (books.held_mb("host"), books.held_mb("some:0")) == (80, 80)


def test_room_promised_to_one_load_is_not_given_to_another() -> None:
    books = Books(100)
    for name in ("a", "b"):
        taken(books, model(name, 60))
    books.break_off(books.models[case("b")], "gone")
    assert books.promise(case("a")) == []
    assert books.promise(case("b")) is None
    books.forget_promise(case("a"))
    assert books.promise(case("b")) == []


def test_without_a_budget_all_stay() -> None:
    books = Books(None)
    assert [taken(books, model(name, 1e9)) for name in "abc"] == [[], [], []]


def test_what_is_too_large_is_not_waited_for() -> None:
    books = Books(100)
    with pytest.raises(TooLarge):
        books.admit(model("a", 101))
    assert books.promise(case("a")) == []
