"""The shelf hands out the newest snapshot, makes each answer once, and lets the store be written meanwhile."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from api_world import fill, make_record, make_run
from blank_store import blank_store
from modeldyno.core.errors import JobError
from modeldyno.store.query import Filter
from modeldyno.store.store import Store
from modeldyno.web.shelf import Shelf

PROBLEMS: list[str] = []


@pytest.fixture
def shelf(tmp_path: Path) -> Iterator[Shelf]:
    made = Shelf(blank_store(tmp_path / "dyno.duckdb"), PROBLEMS.append)
    made.start()
    yield made
    made.stop()


def test_what_is_written_can_be_read_after_a_refresh(shelf: Shelf) -> None:
    assert shelf.now.count(Filter()) == 0
    fill(shelf.store, 10)
    shelf.refresh()
    assert shelf.now.count(Filter()) > 0


def test_what_waits_in_the_spool_is_brought_in(shelf: Shelf) -> None:
    run = make_run()
    writer = shelf.store.writer(run)
    writer.append(run)
    writer.append(make_record(run, 1))
    shelf.refresh()
    assert shelf.now.count(Filter()) == 1, "also while the run is still writing"
    writer.append(make_record(run, 2))
    writer.close()
    shelf.refresh()
    assert shelf.now.count(Filter()) == 2
    assert not list(shelf.store.spool.glob("*.ndjson"))


def test_many_who_ask_for_the_same_wait_for_one_answer(shelf: Shelf) -> None:
    made: list[int] = []

    def make(_: object) -> str:
        made.append(1)
        time.sleep(0.2)
        return "answer"

    told: list[str] = []
    threads = [threading.Thread(target=lambda: told.append(shelf.kept("key", make))) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (told, made) == (["answer"] * 8, [1])
    assert shelf.found("key") == "answer"


def test_answers_go_with_their_snapshot(shelf: Shelf) -> None:
    assert shelf.kept("n", lambda snapshot: snapshot.count(Filter())) == 0
    fill(shelf.store, 10)
    shelf.refresh()
    assert shelf.found("n") is None
    assert shelf.kept("n", lambda snapshot: snapshot.count(Filter())) > 0


def test_one_that_fails_is_made_again(shelf: Shelf) -> None:
    def fail(_: object) -> str:
        raise ValueError("once")

    with pytest.raises(ValueError, match="once"):
        shelf.kept("key", fail)
    assert shelf.kept("key", lambda _: "well") == "well"


def test_a_store_that_cannot_be_read_is_told_to_whoever_asks(tmp_path: Path) -> None:
    (tmp_path / "dyno.duckdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(JobError):
        _ = Shelf(Store(tmp_path / "dyno.duckdb"), PROBLEMS.append).now
