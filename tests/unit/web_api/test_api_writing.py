"""Results that are sent, questions in SQL, jobs and words about regressions; and who may do so."""

from __future__ import annotations

from typing import Any

import pytest
from fastapi.testclient import TestClient

from api_world import client_as, make_record, make_run
from modeldyno.core.types import Run
from modeldyno.store.query import Filter
from modeldyno.store.spool import encode
from modeldyno.web.access.roles import Role

World = tuple[Any, Any]
ORDER = {"blocks": [{"model": ["tiny-bert"], "on": ["cpu"]}], "effort": "quick"}
NDJSON = {"Content-Type": "application/x-ndjson"}


def lines(run: Run, *numbers: int) -> bytes:
    return b"".join(map(encode, [run, *(make_record(run, number) for number in numbers)]))


def send(client: TestClient, content: bytes) -> Any:
    return client.post("/api/v1/records", content=content, headers=NDJSON)


def test_results_are_taken_once(world: World, runner: TestClient) -> None:
    house, _ = world
    content = lines(make_run(5), 100, 101, 102)
    assert send(runner, content).json() == {"records": 3, "new": 3, "known": 0, "runs": 1, "others": 0}
    assert send(runner, content).json() == {"records": 3, "new": 0, "known": 3, "runs": 1, "others": 0}
    house.shelf.refresh()
    rows = runner.get(f"/api/v1/records?run={make_run(5).run_id}&provenance=measured,simulated").json()["items"]
    assert len(rows) == len(house.store.records(Filter(run_id=(make_run(5).run_id,)))) == 3
    more = encode(make_record(make_run(5), 103))
    assert send(runner, more).json()["new"] == 1  # its run is there already


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        (b'{"kind": "record", "data": {}}\n', "Line 3"),
        (b"[1, 2]\n", "Line 3"),
        (b"{\n", "Line 3"),
        (b"\xff\n", "Line 3"),
        (encode(make_record(make_run(8), 7)), make_run(8).run_id),
        (encode(make_record(make_run(5), 7, record_id="../../etc")), "Line 3"),
        (encode(make_run(9).model_copy(update={"import_id": "x"})), "import x"),
    ],
)
def test_a_bad_line_keeps_all_out(world: World, runner: TestClient, bad: bytes, said: str) -> None:
    house, _ = world
    answer = send(runner, lines(make_run(5), 100) + bad)
    assert answer.status_code == 422
    assert said in answer.json()["detail"]
    assert len(house.store.runs()) == 2
    assert not list(house.store.spool.glob("*"))


def test_an_empty_or_too_large_body_is_refused(runner: TestClient) -> None:
    assert send(runner, b"\n").status_code == 422
    assert send(runner, b"x" * 1_000_001).status_code == 413


@pytest.mark.parametrize("role", [None, Role.VIEWER])
def test_only_runners_write(world: World, role: Role | None) -> None:
    client = client_as(*world, role)
    known = {"series_id": "x", "record_id": "x", "text": "x"}
    answers = [
        send(client, lines(make_run(5), 100)),
        client.post("/api/v1/jobs", json=ORDER),
        client.post("/api/v1/jobs/x/cancel"),
        client.post("/api/v1/alerts/x/acknowledge"),
        client.post("/api/v1/acknowledgements", json=known),
    ]
    assert {answer.status_code for answer in answers} == {403 if role else 401}
    assert {answer.headers["content-type"] for answer in answers} == {"application/problem+json"}


def test_sql_reads(world: World) -> None:
    client = client_as(*world, Role.VIEWER)
    asked = {"sql": "SELECT model, count(*) AS n FROM results GROUP BY ALL ORDER BY ALL", "limit": 2}
    answer = client.post("/api/v1/sql", json=asked).json()
    assert (answer["columns"], len(answer["rows"]), answer["more"]) == (["model", "n"], 2, True)
    odd = "SELECT MAP {DATE '2026-01-01': 'nan'::DOUBLE} AS m, [1.5::DECIMAL(4,2)] AS l, 'x'::BLOB AS b, now() AS t"
    assert client.post("/api/v1/sql", json={"sql": odd}).json()["rows"][0][0] == {"2026-01-01": None}


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM records",
        "DROP TABLE records",
        "CREATE TABLE x AS SELECT 1",
        "SELECT * FROM '/etc/passwd'",
        "SELECT * FROM read_csv('/etc/passwd')",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM glob('/*')",
        "COPY (SELECT 1) TO '/tmp/x.csv'",
        "ATTACH '/tmp/other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "PRAGMA database_list",
        "SELECT 1; DROP TABLE records",
        "SELECT getenv('HOME')",
        "SELECT * FROM read_csv('http://127.0.0.1/x')",
        "not sql",
        "",
    ],
)
def test_sql_does_nothing_else(world: World, sql: str) -> None:
    answer = client_as(*world, Role.ADMIN).post("/api/v1/sql", json={"sql": sql})
    assert answer.status_code in (400, 422), answer.text


def test_sql_has_its_limits(world: World) -> None:
    client = client_as(*world, Role.VIEWER)
    assert client.post("/api/v1/sql", json={"sql": "SELECT 1", "limit": 10_001}).status_code == 422
    object.__setattr__(world[0].settings, "sql_timeout_s", 0.2)
    slow = "SELECT count(*) FROM range(1000000000) a, range(1000000000) b WHERE a.range * b.range % 7 = 3"
    assert client.post("/api/v1/sql", json={"sql": slow}).status_code == 503


def test_a_job_from_order_to_end(runner: TestClient) -> None:
    answer = runner.post("/api/v1/jobs", json=ORDER)
    job = answer.json()
    assert (answer.status_code, job["state"]) == (201, "queued")
    place = answer.headers["location"]
    assert runner.get(place).json() == job
    assert runner.get("/api/v1/jobs?state=queued").json()["items"] == [job]
    assert runner.post(f"{place}/resume").status_code == 409
    assert runner.post(f"{place}/cancel").json()["state"] == "cancelled"
    assert runner.get(f"{place}/log").headers["content-type"].startswith("text/plain")
    text = runner.get(f"{place}/events").text
    assert [line for line in text.splitlines() if line.startswith("event")] == ["event: queued", "event: end"]
    later = runner.get(f"{place}/events", headers={"Last-Event-ID": "1"}).text
    assert later.startswith("id: 2\n")
    assert runner.post(f"{place}/rerun").status_code == 201
    assert runner.post(f"{place}/resume").json()["state"] == "queued"


def test_wrong_orders_are_refused(runner: TestClient) -> None:
    assert runner.post("/api/v1/jobs", json={"blocks": []}).status_code == 422
    assert runner.post("/api/v1/jobs", json={"blocks": [{"model": ["/etc/x"], "on": ["cpu"]}]}).status_code == 400
    assert runner.post("/api/v1/jobs/x/cancel").status_code == 404
    assert runner.post("/api/v1/alerts/x/acknowledge").status_code == 404


def test_a_regression_is_explained(world: World, runner: TestClient) -> None:
    row = runner.get("/api/v1/records?limit=1").json()["items"][0]
    known = {"series_id": row["series_id"], "record_id": row["record_id"], "text": " new driver "}
    assert runner.post("/api/v1/acknowledgements", json=known).status_code == 201
    runner.post("/api/v1/acknowledgements", json=known | {"text": "newer driver"})
    [found] = runner.get("/api/v1/acknowledgements").json()["items"]
    assert (found["text"], found["who"]) == ("newer driver", "a-runner")
    assert runner.post("/api/v1/acknowledgements", json=known | {"series_id": "x"}).status_code == 404
    assert "acknowledge" in [note.action for note in world[0].book.audit.newest()]
