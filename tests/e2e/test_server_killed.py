"""The server as a process: it refuses what it must, stops in order, and a kill loses nothing it had acknowledged."""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
import urllib.error
from pathlib import Path

import pytest

from api_world import make_record, make_run
from blank_store import blank_store
from modeldyno.store.query import Filter
from modeldyno.store.spool import Item, encode
from modeldyno.store.store import Store
from modeldyno.web.access.book import Book
from modeldyno.web.access.roles import Role
from served import Served

NDJSON = "application/x-ndjson"


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return blank_store(tmp_path / "dyno.duckdb")


def token_of(store: Store) -> str:
    book = Book.beside(store.path)
    book.users.add("sender", Role.RUNNER, "a long password")
    return book.tokens.make("sender", "test", Role.RUNNER)[1]


def lines(*items: Item) -> bytes:
    return b"".join(map(encode, items))


class Sender(threading.Thread):
    """Sends results without end, and remembers those that were acknowledged."""

    def __init__(self, served: Served, token: str, number: int) -> None:
        super().__init__(daemon=True)
        self._served, self._token, self._number = served, token, number
        self.acknowledged: list[str] = []

    def run(self) -> None:
        run, place = make_run(self._number), 0
        while True:
            place += 1
            record = make_record(run, 10_000 * self._number + place)
            try:
                self._served.post("/api/v1/records", lines(run, record), self._token, NDJSON)
            except (urllib.error.URLError, ConnectionError, OSError):
                return
            self.acknowledged.append(record.record_id)


@pytest.mark.slow
def test_a_kill_under_load_loses_nothing_acknowledged_and_the_queue_comes_back(store: Store) -> None:
    token = token_of(store)
    order = json.dumps({"blocks": [{"model": ["tiny-bert"], "on": ["cpu"]}], "effort": "publish"}).encode()
    with Served(store.path) as served:
        jobs = [served.post("/api/v1/jobs", order, token)["job_id"] for _ in range(2)]
        _until(lambda: served.get(f"/api/v1/jobs/{jobs[0]}", token)["state"] == "running")
        senders = [Sender(served, token, number) for number in (1, 2, 3)]
        for sender in senders:
            sender.start()
        _until(lambda: all(len(sender.acknowledged) >= 5 for sender in senders))
        served.kill()
        for sender in senders:
            sender.join(30)
    acknowledged = {record for sender in senders for record in sender.acknowledged}
    with Served(store.path) as served:
        states = {job: served.get(f"/api/v1/jobs/{job}", token)["state"] for job in jobs}
        assert states[jobs[0]] == "interrupted"
        assert states[jobs[1]] in ("queued", "running")
        for job in jobs[1:]:
            served.post(f"/api/v1/jobs/{job}/cancel", b"", token)
        found = served.get("/api/v1/records?limit=1000", token)["items"]
        assert len(found) == len({row["record_id"] for row in found})
    kept = [record.record_id for record in store.records(Filter())]
    assert acknowledged <= set(kept)
    assert len(kept) == len(set(kept))


def _until(condition: object, seconds: float = 60.0) -> None:
    deadline = time.monotonic() + seconds
    while not condition():  # type: ignore[operator]
        assert time.monotonic() < deadline
        time.sleep(0.1)


def test_it_stops_in_order_and_starts_again(store: Store) -> None:
    with Served(store.path) as served:
        assert served.get("/healthz")["status"] == "ok"
        assert served.link
    assert served.code == 0
    assert not any("Traceback" in line for line in served.log), served.log
    with Served(store.path) as again:
        assert again.get("/api/v1/records")["items"] == []


def test_others_are_let_in_only_when_someone_can_log_in(store: Store) -> None:
    words = ["--host", "0.0.0.0", "--port", "0", "--store", str(store.path)]
    command = [sys.executable, "-m", "modeldyno", "serve", *words]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert (done.returncode, "dyno users add NAME --role admin" in done.stderr) == (2, True), done.stderr
    token = token_of(store)
    with Served(store.path, "--host", "0.0.0.0") as served:
        assert served.link is None
        address = served.address.replace("0.0.0.0", "127.0.0.1")
        served.address = address
        with pytest.raises(urllib.error.HTTPError, match="401"):
            served.get("/api/v1/records")
        assert served.get("/api/v1/records", token)["items"] == []


def test_an_address_that_is_taken_and_a_second_server_are_told(store: Store) -> None:
    with Served(store.path) as served:
        port = served.address.rsplit(":", 1)[1]
        for words, said in ((["--port", port], "another --port"), (["--port", "0"], "--no-jobs")):
            command = [sys.executable, "-m", "modeldyno", "serve", "--store", str(store.path), *words]
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
            assert (done.returncode, said in done.stderr, "Traceback" in done.stderr) == (2, True, False), done.stderr
