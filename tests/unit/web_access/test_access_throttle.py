"""Who guesses waits, and nobody else does."""

from __future__ import annotations

import pytest
from access_world import PASSWORD, World
from hypothesis import given
from hypothesis import strategies as st

from modeldyno.web.access.roles import AccessDenied
from modeldyno.web.access.throttle import FIRST_S, LONGEST_S, OF_ADDRESS, OF_NAME, OF_PAIR, network, wait_s

MOMENTS = st.lists(st.floats(0, 900), max_size=100)


@given(MOMENTS, st.integers(1, 50))
def test_waiting_is_bounded_and_grows(failures: list[float], allowed: int) -> None:
    wait = wait_s(failures, 900.0, allowed)
    assert 0 <= wait <= LONGEST_S
    assert wait_s([*failures, 900.0], 900.0, allowed) >= wait


def test_it_doubles() -> None:
    assert [wait_s([0.0] * number, 0.0, 5) for number in (4, 5, 6, 7, 50)] == [0, 30, 60, 120, 900]
    assert wait_s([0.0] * 5, 29.0, 5) == 1 and wait_s([0.0] * 5, 30.0, 5) == 0


def test_five_failures_then_waiting_then_the_right_password(world: World) -> None:
    for _ in range(OF_PAIR):
        assert world.book.log_in("viewer-1", "wrong password", "10.0.0.1") is None
    with pytest.raises(AccessDenied, match="try again in") as refused:
        world.book.log_in("viewer-1", PASSWORD, "10.0.0.1")  # not even the right one
    assert refused.value.status == 429 and refused.value.headers == {"Retry-After": str(int(FIRST_S) + 1)}
    assert world.book.log_in("viewer-1", PASSWORD, "10.0.0.2")  # who is elsewhere is not locked out
    assert world.book.log_in("runner-1", PASSWORD, "10.0.0.1")  # nor who shares the address
    world.clock.turn(seconds=FIRST_S)
    assert world.book.log_in("viewer-1", "wrong password", "10.0.0.1") is None
    world.clock.turn(seconds=FIRST_S)
    with pytest.raises(AccessDenied):  # the second time it takes twice as long
        world.book.log_in("viewer-1", PASSWORD, "10.0.0.1")
    world.clock.turn(seconds=FIRST_S)
    assert world.book.log_in("viewer-1", PASSWORD, "10.0.0.1")
    assert world.book.log_in("viewer-1", "wrong password", "10.0.0.1") is None  # the count began anew


def test_refused_attempts_do_not_prolong_the_wait(world: World) -> None:
    for _ in range(OF_PAIR):
        world.book.throttle.admit("ada", "10.0.0.1")
    for _ in range(20):
        assert world.book.throttle.admit("ada", "10.0.0.1") == FIRST_S
    world.clock.turn(minutes=15)
    assert world.book.throttle.admit("ada", "10.0.0.1") == 0


def test_many_addresses_against_one_name(world: World) -> None:
    waits = [world.book.throttle.admit("ada", f"10.0.{number}.1") for number in range(OF_NAME)]
    assert set(waits) == {0.0}
    assert world.book.throttle.admit("ada", "10.0.0.1") == FIRST_S  # one failure is enough there now
    assert world.book.throttle.admit("bob", "10.0.0.1") == 0
    assert world.book.throttle.admit("ada", "10.1.1.1") == 0
    assert world.book.throttle.admit("ada", "10.1.1.1") == FIRST_S


def test_nobody_is_locked_out_by_what_others_did(world: World) -> None:
    for number in range(4 * OF_NAME):
        world.book.throttle.admit("viewer-1", f"10.0.{number}.1")
    for _ in range(3):
        assert world.book.log_in("viewer-1", PASSWORD, "10.1.1.1")


def test_one_address_against_many_names(world: World) -> None:
    for number in range(OF_ADDRESS):
        assert world.book.throttle.admit(f"user-{number}", "10.0.0.1") == 0
    assert world.book.throttle.admit("another", "10.0.0.1") > 0
    assert world.book.throttle.admit("another", "10.0.0.2") == 0


def test_an_own_account_does_not_clear_what_was_done_to_others(world: World) -> None:
    for number in range(OF_ADDRESS - 1):
        world.book.throttle.admit(f"user-{number}", "10.0.0.1")
    assert world.book.log_in("viewer-1", PASSWORD, "10.0.0.1")
    assert world.book.throttle.admit("user-x", "10.0.0.1") == 0
    assert world.book.throttle.admit("user-y", "10.0.0.1") > 0


def test_a_network_of_ipv6_counts_as_one() -> None:
    assert network("2001:db8::1") == network("2001:db8::ffff:1") == "2001:db8::/64"
    assert network("::ffff:10.0.0.1") == "10.0.0.1" and network("fe80::1%eth0") == "fe80::/64"
    assert network("testclient") == "testclient"
