"""Going through a list in pages gives each thing once, in whatever order."""

from __future__ import annotations

from typing import Any

from fastapi.testclient import TestClient
from hypothesis import given, settings
from hypothesis import strategies as st

from modeldyno.store.snapshot import ORDERS
from modeldyno.web.api._asking import cursor_text


def pages(client: TestClient, path: str, **words: Any) -> list[dict[str, Any]]:
    """Through the Link of each page."""
    found: list[dict[str, Any]] = []
    answer = client.get(path, params=words)
    while True:
        document = answer.json()
        assert answer.status_code == 200, document
        found += document["items"]
        assert ("link" in answer.headers) is (document["next"] is not None)
        if document["next"] is None:
            return found
        assert len(document["items"]) == words["limit"]
        answer = client.get(answer.headers["link"].partition(">")[0].removeprefix("<"))


@given(column=st.sampled_from(ORDERS), sign=st.sampled_from(["", "-"]), limit=st.integers(1, 70))
@settings(max_examples=60, deadline=None)
def test_each_record_comes_once_in_any_order(reading: TestClient, column: str, sign: str, limit: int) -> None:
    words = {"provenance": "measured,simulated", "sort": sign + column}
    rows = pages(reading, "/api/v1/records", limit=max(limit, 3), **words)
    whole = reading.get("/api/v1/records", params={**words, "limit": 1000}).json()["items"]
    assert [row["record_id"] for row in rows] == [row["record_id"] for row in whole]
    assert len({row["record_id"] for row in rows}) == 64
    values = [row[column] for row in rows if row.get(column) is not None]
    assert values == sorted(values, reverse=bool(sign))
    assert all(row.get(column) is None for row in rows[len(values) :])


def test_series_and_runs_come_once(reading: TestClient) -> None:
    series = [one["series_id"] for one in pages(reading, "/api/v1/series", limit=2)]
    assert len(series) == len(set(series)) > 5
    assert len(pages(reading, "/api/v1/runs", limit=1)) == 2


@given(text=st.text(max_size=60))
@settings(max_examples=150, deadline=None)
def test_no_cursor_breaks_the_server(reading: TestClient, text: str) -> None:
    assert reading.get("/api/v1/records", params={"cursor": text}).status_code in (200, 400, 422)


@given(key=st.text(max_size=20))
@settings(max_examples=50, deadline=None)
def test_no_forged_cursor_breaks_the_server(reading: TestClient, key: str) -> None:
    for path, sort in (("records", "-started_at"), ("series", "series_id"), ("runs", "-run_id"), ("jobs", "-job_id")):
        answer = reading.get(f"/api/v1/{path}", params={"cursor": cursor_text(sort, key)})
        assert answer.status_code in (200, 400)


def test_a_cursor_of_another_order_is_refused(reading: TestClient) -> None:
    cursor = reading.get("/api/v1/records?limit=1").json()["next"]
    assert reading.get(f"/api/v1/records?cursor={cursor}").status_code == 200
    assert reading.get(f"/api/v1/records?cursor={cursor}&sort=batch").status_code == 400
