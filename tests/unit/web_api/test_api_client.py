"""The client against a real server on a real port, and against one that is away, busy or strange."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any

import pytest
import uvicorn

from api_world import make_record, make_run, token_for
from modeldyno.client import Client, ServerAway, ServerError
from modeldyno.core.errors import InputError
from modeldyno.web.access.roles import Role

World = tuple[Any, Any]


@contextmanager
def listening(app: Any) -> Iterator[str]:
    server = uvicorn.Server(uvicorn.Config(app, host="127.0.0.1", port=0, log_level="warning", lifespan="off"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


@contextmanager
def answering(*answers: tuple[int, dict[str, str], bytes]) -> Iterator[tuple[str, list[str]]]:
    """One after the other, the last for ever."""
    left, asked = list(answers), []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.headers.get("Authorization", ""))
            status, headers, content = left.pop(0) if len(left) > 1 else left[0]
            self.send_response(status)
            for name, value in headers.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, *_: Any) -> None:
            pass

    server = HTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_everything_once(world: World) -> None:
    house, app = world
    with listening(app) as url:
        client = Client(url, token_for(house, Role.RUNNER))
        assert any(model.name == "tiny-bert" and model.results for model in client.models())
        rows = list(client.records(limit=7, status="ok", provenance=["measured", "simulated"]))
        assert len({row.record_id for row in rows}) == len(rows) > 7
        assert rows[0].value("latency_ms") == rows[0].latency_ms
        whole = client.record(rows[0].record_id)
        assert (whole.case.model, whole.series_id) == (rows[0].model, rows[0].series_id)
        assert [one.results for one in client.series(limit=2, model="tiny-opt")] == [24]
        items = [make_run(7), make_record(make_run(7), 200)]
        assert (client.send(items).new, client.send(items).known) == (1, 1)
        job = client.submit({"blocks": [{"model": ["tiny-bert"], "on": ["cpu"]}]})
        house.queue.cancel(job.job_id)
        assert client.wait(job.job_id).state == "cancelled"
        with pytest.raises(ServerError, match="no record"):
            client.record("x")
        with pytest.raises(ServerError, match="log-in"):
            Client(url).submit({"blocks": [{"model": ["tiny-bert"], "on": ["cpu"]}]})


def test_a_busy_server_is_asked_again() -> None:
    busy = (503, {"Retry-After": "0"}, b'{"detail": "not now"}')
    with answering(busy, (502, {}, b"<html>"), (200, {}, b'{"items": []}')) as (url, asked):
        assert Client(url, "secret").models() == []
        assert asked == ["Bearer secret"] * 3
    with answering(busy) as (url, _), pytest.raises(ServerError, match="not now"):
        Client(url, patience_s=0.3).models()


def test_a_server_that_is_away_is_told_so() -> None:
    with pytest.raises(ServerAway, match="dyno serve"):
        Client("http://127.0.0.1:9", patience_s=0.3).models()
    with pytest.raises(InputError):
        Client("file:///etc/passwd")


def test_the_token_goes_nowhere_else() -> None:
    with answering((200, {}, b'{"items": []}')) as (elsewhere, asked):
        redirect = (302, {"Location": elsewhere + "/api/v1/models"}, b"")
        with answering(redirect) as (url, _), pytest.raises(ServerError):
            Client(url, "secret").models()
        assert asked == []


def test_what_is_no_json_is_told_so() -> None:
    with answering((200, {}, b"<html>")) as (url, _), pytest.raises(Exception, match="no JSON"):
        Client(url).models()
