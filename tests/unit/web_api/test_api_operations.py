"""Whether the server is well, told from what it knows already."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from api_world import client_as
from modeldyno.core.errors import JobError
from modeldyno.web.jobs.queue import Queue
from modeldyno.web.shelf import Shelf

World = tuple[Any, Any]


def test_a_server_that_is_well(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    house, app = world
    monkeypatch.setattr(type(house.store), "existing", None)  # nobody asks for the store's file
    monkeypatch.setattr(Queue, "waiting", None)
    monkeypatch.setattr(Queue, "jobs", None)
    answer = client_as(house, app, None).get("/healthz")
    found = answer.json()
    assert (answer.status_code, found["status"], found["alive"]) == (200, "ok", True)
    assert [found[name] for name in ("store", "queue", "dispatcher", "webhook")] == [None] * 4
    assert 'dyno_jobs{state="queued"} 0\n' in client_as(house, app, None).get("/metrics").text


@pytest.mark.parametrize("part", ["dispatcher", "webhook"])
def test_what_does_not_work_is_told_and_results_are_still_served(world: World, part: str) -> None:
    house, app = world
    setattr(house, part, SimpleNamespace(problem="It broke.", stop=lambda: None))
    answer = client_as(house, app, None).get("/healthz")
    assert (answer.status_code, answer.json()["status"], answer.json()[part]) == (200, "degraded", "It broke.")


def test_nobody_looks_at_the_store_any_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    house, app = world
    monkeypatch.setattr(Shelf, "alive", False)
    monkeypatch.setattr(Shelf, "behind", True)
    answer = client_as(house, app, None).get("/healthz")
    found = answer.json()
    assert (answer.status_code, found["status"], found["alive"], found["behind"]) == (503, "degraded", False, True)


def test_a_store_that_cannot_be_read(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    def unread(_: Shelf) -> None:
        raise JobError("The store cannot be read.")

    house, app = world
    client = client_as(house, app, None)
    monkeypatch.setattr(Shelf, "now", property(unread))
    answer = client.get("/healthz")
    assert (answer.status_code, answer.json()["results"]) == (503, None)
    assert answer.json()["store"] == "The store cannot be read."
