"""Alerts over a real loopback server: signed, tried again, never redirected, never in the way."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from http.server import BaseHTTPRequestHandler, HTTPServer

import pytest

from modeldyno.core.errors import InputError
from modeldyno.web.jobs.types import Event, EventKind
from modeldyno.web.jobs.webhook import SIGNATURE, Webhook, signature

Got = list[tuple[dict[str, str], bytes]]
Serve = Callable[..., tuple[HTTPServer, Got]]


@pytest.fixture
def serve() -> Iterator[Serve]:
    servers: list[HTTPServer] = []

    def start(port: int = 0, answers: tuple[int, ...] = (204,)) -> tuple[HTTPServer, Got]:
        got: Got = []

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                got.append((dict(self.headers), self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(answers[min(len(got), len(answers)) - 1])
                self.send_header("Location", "/elsewhere")
                self.end_headers()

            do_GET = do_POST

            def log_message(self, *_: object) -> None: ...

        server = HTTPServer(("127.0.0.1", port), Handler)
        servers.append(server)
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        return server, got

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def alert(text: str = "tiny-bert is failed: <b>") -> Event:
    data = {"alert_id": "a", "alert": "failure", "text": text}
    return Event(job_id="j1", number=3, at=datetime.now(UTC), kind=EventKind.ALERT, data=data)


def wait_until(is_so: Callable[[], object]) -> None:
    deadline = time.monotonic() + 10
    while not is_so() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert is_so()


def free_port() -> int:
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def test_an_alert_arrives_signed_once_the_server_is_up(serve: Serve) -> None:
    port = free_port()
    hook = Webhook(f"http://127.0.0.1:{port}/hook", "s3cret", "https://dyno.example/", (0.3, 2.0))
    hook.start()
    begin = time.monotonic()
    hook.notice(alert())
    assert time.monotonic() - begin < 0.1, "whoever tells it waits for nothing"
    wait_until(lambda: hook.problem)
    assert "cannot be reached" in (hook.problem or "")
    assert "/hook" not in (hook.problem or ""), "such addresses are secrets, and /healthz is open to all"
    _, got = serve(port)
    wait_until(lambda: got)
    hook.stop()
    headers, body = got[0]
    assert headers[SIGNATURE] == f"sha256={signature('s3cret', body)}"
    assert signature("other", body) not in headers[SIGNATURE]
    told = json.loads(body)
    assert (told["kind"], told["text"], told["job_id"]) == ("failure", "tiny-bert is failed: <b>", "j1")
    assert told["link"] == "https://dyno.example/dashboard/jobs/j1"
    assert hook.problem is None
    assert len(got) == 1


def test_three_tries_and_then_the_next_alert(serve: Serve) -> None:
    server, got = serve(answers=(500, 503, 500, 204))
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/", None, pauses_s=(0.01, 0.01))
    hook.start()
    hook.notice(alert("first"))
    hook.notice(alert("second"))
    wait_until(lambda: len(got) == 4)
    hook.stop()
    assert [json.loads(body)["text"] for _, body in got] == ["first", "first", "first", "second"]
    assert SIGNATURE not in got[0][0]


def test_a_redirect_is_not_followed(serve: Serve) -> None:
    server, got = serve(answers=(302,))
    hook = Webhook(f"http://127.0.0.1:{server.server_port}/", None, pauses_s=())
    hook.start()
    hook.notice(alert())
    wait_until(lambda: hook.problem)
    hook.stop()
    assert len(got) == 1
    assert "answered 302" in (hook.problem or "")


def test_other_events_are_not_posted_and_one_that_never_began_can_stop() -> None:
    hook = Webhook("http://127.0.0.1:1/", None)
    hook.notice(alert().model_copy(update={"kind": EventKind.NOTE}))
    assert hook._waiting.empty()
    hook.stop()


@pytest.mark.parametrize("url", ["file:///etc/passwd", "ftp://host/x", "http://", "host/hook", ""])
def test_only_web_addresses(url: str) -> None:
    with pytest.raises(InputError, match="no address"):
        Webhook(url, None)
