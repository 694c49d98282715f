"""Where the server listens, and under which names it answers."""

from __future__ import annotations

import pytest
from access_world import World
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from modeldyno.core.errors import InputError
from modeldyno.web.access.binding import LoopbackNames, check_binding
from modeldyno.web.access.book import Book


@pytest.mark.parametrize(
    "host", ["127.0.0.1", "127.8.9.1", "::1", "[::1]", "localhost", "LOCALHOST.", "::ffff:127.0.0.1"]
)
def test_loopback_needs_no_user(tmp_path, host: str) -> None:  # type: ignore[no-untyped-def]
    assert check_binding(host, Book(tmp_path / "a.sqlite")) is True


@pytest.mark.parametrize(
    "host", ["0.0.0.0", "::", "", "192.168.1.7", "bench.example.org", "localhost.evil.org", "127.1"]
)
def test_other_addresses_need_one(tmp_path, closed: World, host: str) -> None:  # type: ignore[no-untyped-def]
    with pytest.raises(InputError, match="dyno users add NAME --role admin"):
        check_binding(host, Book(tmp_path / "a.sqlite"))
    assert check_binding(host, closed.book) is False


@pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000", "LocalHost:1", "bench.example.org"])
def test_own_names_are_answered(world: World, host: str) -> None:
    app = LoopbackNames(world.app, "https://bench.example.org")
    assert TestClient(app).get("/things", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize("host", ["evil.example:8000", "127.0.0.1.evil.example", "localhost.evil.example", "[::2]", ""])
def test_a_name_that_leads_here_from_elsewhere_is_not(world: World, host: str) -> None:
    client = TestClient(LoopbackNames(world.app))
    answer = client.get("/things", headers={"Host": host})
    assert answer.status_code == 403 and "localhost" in answer.json()["detail"]
    with pytest.raises(WebSocketDisconnect), client.websocket_connect("/x", headers={"Host": host}):
        pass
