"""Whatever writes or runs code refuses whoever may not: every such route of the server, one by one."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from fastapi.routing import APIRoute
from fastapi.testclient import TestClient

from api_world import fill, token_for
from blank_store import blank_store
from modeldyno.web.access.book import Book
from modeldyno.web.access.roles import Role
from modeldyno.web.app import create_app
from modeldyno.web.settings import Settings

OPEN = {("POST", "/login"), ("POST", "/api/v1/sql")}
"""To log in, one cannot be logged in; SQL only reads, and who may read may ask."""


@pytest.fixture(scope="module")
def app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    store = blank_store(tmp_path_factory.mktemp("access") / "dyno.duckdb")
    fill(store)
    made = create_app(Settings(store=store.path, jobs=False, largest_body_mb=1.0, slowest_body_s=1.0))
    with TestClient(made, base_url="http://127.0.0.1"):
        yield made


@pytest.fixture
def client(app: Any) -> TestClient:
    return TestClient(app, base_url="http://127.0.0.1", raise_server_exceptions=False, follow_redirects=False)


def writing(app: Any) -> list[tuple[str, str]]:
    """Every route with a method that may change something, with its places filled in."""
    found = {
        (method, re.sub(r"\{[^}]*\}", "x", route.path))
        for route in _all_routes(app.router)
        for method in route.methods - {"GET", "HEAD", "OPTIONS"}
    }
    return sorted(found - OPEN)


def _all_routes(router: Any) -> Iterator[APIRoute]:
    for route in router.routes:
        if isinstance(route, APIRoute):
            yield route
        elif hasattr(route, "original_router"):
            yield from _all_routes(route.original_router)
        elif hasattr(route, "routes"):
            yield from _all_routes(route)


def test_there_are_writing_routes_at_all(app: Any) -> None:
    paths = {path for _, path in writing(app)}
    assert {"/dashboard/run", "/api/v1/jobs", "/api/v1/records", "/dashboard/acknowledge", "/logout"} <= paths


def test_nobody_a_wrong_an_expired_and_a_weak_token_are_refused(app: Any, client: TestClient) -> None:
    book: Book = app.state.house.book
    viewer = token_for(app.state.house, Role.VIEWER)
    late = Book.beside(app.state.house.settings.store, now=lambda: datetime.now(UTC) - timedelta(days=400))
    late.users.add("past", Role.ADMIN, "a long password")
    _, expired = late.tokens.make("past", "old", Role.ADMIN)
    for method, path in writing(app):
        assert client.request(method, path).status_code == 401, (method, path)
        for token in ("", "dyno_x_y", "nonsense", expired):
            answer = client.request(method, path, headers={"Authorization": f"Bearer {token}"})
            assert answer.status_code == 401, (method, path, token)
        if path not in ("/logout", "/api/v1/tokens", "/api/v1/tokens/x"):  # one's own
            answer = client.request(method, path, headers={"Authorization": f"Bearer {viewer}"})
            assert answer.status_code == 403, (method, path)
    assert book.users.get("past")


def test_a_form_of_another_site_and_one_without_its_secret_are_refused(app: Any, client: TestClient) -> None:
    book: Book = app.state.house.book
    book.users.add("runner1", Role.ADMIN, "a long password")
    logged = client.post("/login", data={"name": "runner1", "password": "a long password"})
    assert logged.status_code == 303
    client.cookies.update(logged.cookies)
    csrf = client.get("/api/v1/me").json()["csrf"]
    for method, path in writing(app):
        for headers in ({}, {"X-CSRF-Token": "wrong"}):
            assert client.request(method, path, headers=headers).status_code == 403, (method, path)
        foreign = {"X-CSRF-Token": csrf, "Origin": "http://evil.example"}
        assert client.request(method, path, headers=foreign).status_code == 403, (method, path)
        cross = {"X-CSRF-Token": csrf, "Sec-Fetch-Site": "cross-site"}
        assert client.request(method, path, headers=cross).status_code == 403, (method, path)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM records",
        "COPY records TO '/tmp/x.csv'",
        "SELECT * FROM read_text('/etc/passwd')",
        "SELECT * FROM '/etc/passwd'",
        "ATTACH '/tmp/other.duckdb'",
        "INSTALL httpfs",
        "LOAD httpfs",
        "SET enable_external_access = true",
        "CREATE TABLE x (a INT)",
        "PRAGMA database_list; SELECT 1",
        "SELECT * FROM read_csv('http://127.0.0.1/')",
    ],
)
def test_sql_reads_the_store_and_nothing_else(app: Any, client: TestClient, sql: str) -> None:
    token = token_for(app.state.house, Role.VIEWER)
    answer = client.post("/api/v1/sql", json={"sql": sql}, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 400
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize(
    "path",
    [
        "/static/x/../../../../etc/passwd",
        "/static/x/..%2f..%2fapp.py",
        "/static/x/%2e%2e%2fapp.py",
        "/dashboard/models/..%2f..%2fetc%2fpasswd",
        "/dashboard/generate?model=../../etc/passwd&on=cpu",
        "/dashboard/recommend?model=/etc/passwd",
        "/dashboard/run?model=/etc/passwd",
        "/api/v1/reports/..%2f..%2fx?format=html",
        "/api/v1/reports/%2fetc%2fpasswd.yaml",
    ],
)
def test_no_path_leads_out_of_its_folder(client: TestClient, path: str) -> None:
    answer = client.get(path, headers={"Accept": "application/json"})
    assert answer.status_code in (200, 400, 404), answer.text
    assert "root:" not in answer.text
    assert "create_app" not in answer.text


def test_a_body_that_is_too_large_is_refused(app: Any, client: TestClient) -> None:
    token = token_for(app.state.house, Role.RUNNER)
    headers = {"Authorization": f"Bearer {token}", "Content-Type": "application/x-ndjson"}
    assert client.post("/api/v1/records", content=b"x" * 2_000_000, headers=headers).status_code == 413

    def parts() -> Iterator[bytes]:
        for _ in range(40):
            yield b"x" * 100_000

    assert client.post("/api/v1/records", content=parts(), headers=headers).status_code == 413


def test_every_answer_has_the_headers_that_keep_browsers_in_line(client: TestClient) -> None:
    for path in ("/dashboard", "/api/v1/models", "/nowhere", "/healthz", "/docs", "/static/x/nothing"):
        headers = client.get(path).headers
        assert "default-src 'none'" in headers["content-security-policy"], path
        assert "unsafe" not in headers["content-security-policy"]
        assert (headers["x-content-type-options"], headers["x-frame-options"]) == ("nosniff", "DENY")


def test_pages_have_no_script_inside(client: TestClient) -> None:
    for path in ("/dashboard", "/dashboard/explore", "/dashboard/run", "/docs", "/login"):
        text = client.get(path).text
        assert not re.search(r"<script(?![^>]* src=)", text), path
        assert not re.search(r"\son\w+=|javascript:|\sstyle=", text), path
