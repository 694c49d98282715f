"""To log in and out, and the routes about tokens, users and the audit log."""

from __future__ import annotations

from urllib.parse import parse_qs, urlsplit

import pytest
from access_world import HERE, PASSWORD, World, csrf
from starlette.testclient import TestClient

from modeldyno.web.access.guard import COOKIE
from modeldyno.web.access.roles import Role
from modeldyno.web.access.routes import local_path

PAGE = {"Accept": "text/html"}
ELSEWHERE = [
    *("//evil.example", "https://evil.example", "/\\evil.example", "\\\\evil", "/\t/evil.example", "evil", "", "/a\\b"),
    *("/\n/evil.example", " //evil.example", "javascript:alert(1)", "/x\r\nSet-Cookie: a=b"),
]


def log_in(client: TestClient, name: str = "runner-1", password: str = PASSWORD, **more: str):  # type: ignore[no-untyped-def]
    return client.post("/login", data={"name": name, "password": password, **more}, headers=PAGE)


def test_log_in_and_out(world: World) -> None:
    client = world.client()
    answer = log_in(client, next="/runs/7?tab=log")
    assert answer.status_code == 303 and answer.headers["Location"] == "/runs/7?tab=log"
    cookie = answer.headers["Set-Cookie"].lower()
    assert "httponly" in cookie and "samesite=lax" in cookie and "path=/" in cookie and "secure" not in cookie
    me = client.get("/api/v1/me")
    assert me.json()["name"] == "runner-1" and me.json()["how"] == "cookie"
    assert me.headers["Cache-Control"] == "no-store"
    assert client.post("/logout").status_code == 403
    secret = client.cookies[COOKIE]
    gone = client.post("/logout", data={"csrf_token": me.json()["csrf"]})
    assert gone.status_code == 303 and COOKIE not in client.cookies
    client.cookies.set(COOKIE, secret)
    assert client.get("/things").json() == "anonymous"
    assert client.post("/logout", headers=PAGE).headers["Location"].startswith("/login")
    assert [note.action for note in world.book.audit.newest(2)] == ["log out", "log in"]


def test_the_cookie_is_for_https_alone_where_there_is_https(world: World) -> None:
    client = TestClient(world.app, base_url="https://bench.example.org", follow_redirects=False)
    assert "; secure" in log_in(client).headers["Set-Cookie"].lower()
    assert "; secure" not in log_in(world.client()).headers["Set-Cookie"].lower()
    behind = World(world.path, public_url="https://bench.example.org")  # a proxy speaks HTTP with it
    assert "; secure" in log_in(behind.client()).headers["Set-Cookie"].lower()


def test_to_log_in_again_ends_the_session_before(world: World) -> None:
    client = world.client()
    log_in(client)
    first = client.cookies[COOKIE]
    log_in(client, "admin-1")
    assert client.get("/things").json() == "admin-1"
    assert world.book.sessions.find(first) is None


@pytest.mark.parametrize("next", ELSEWHERE)
def test_next_leads_nowhere_else(world: World, next: str) -> None:
    assert local_path(next) == "/dashboard"
    assert log_in(world.client(), next=next).headers["Location"] == "/dashboard"


def test_a_failed_log_in_leads_back(world: World) -> None:
    client = world.client()
    for name, password in (("runner-1", "wrong password"), ("nobody", PASSWORD), ("local", PASSWORD), ("", "")):
        answer = log_in(client, name, password, next="/runs")
        assert answer.status_code == 303 and answer.headers["Location"] == "/login?failed=1&next=%2Fruns"
        assert COOKIE not in client.cookies
    log_in(client, "eve\nadmin-1", "x")
    note = world.book.audit.newest(1)[0]
    assert (note.who, note.action, note.outcome, note.address) == ("eve\\nadmin-1", "log in", "failed", "testclient")


def test_who_guesses_is_slowed_down(world: World) -> None:
    client = world.client()
    for _ in range(5):
        log_in(client, password="wrong password")
    query = parse_qs(urlsplit(log_in(client).headers["Location"]).query)
    assert query == {"failed": ["throttled"], "wait": ["31"], "next": ["/dashboard"]}
    plain = client.post("/login", data={"name": "runner-1", "password": PASSWORD})
    assert plain.status_code == 429 and plain.headers["Retry-After"] == "31"
    world.clock.turn(seconds=31)
    assert log_in(client).headers["Location"] == "/dashboard"


def test_no_other_site_can_log_somebody_in(world: World) -> None:
    form = {"name": "runner-1", "password": PASSWORD}
    for foreign in ({"Origin": "https://evil.example"}, {"Sec-Fetch-Site": "cross-site"}):
        assert world.client().post("/login", data=form, headers=foreign).status_code == 403
    assert world.client().post("/login", data=form, headers={"Origin": HERE}).status_code == 303


def test_the_one_time_link(world: World, closed: World) -> None:
    link = {"secret": world.book.one_time_link_secret()}
    client = world.client()
    first = client.get("/one-time", params=link)
    assert first.status_code == 303 and first.headers["Location"] == "/dashboard"
    assert first.headers["Referrer-Policy"] == "no-referrer"
    me = client.get("/api/v1/me").json()
    assert (me["name"], me["role"], me["how"]) == ("local", "admin", "one-time")
    assert client.delete("/things").status_code == 403
    assert client.delete("/things", headers=csrf(client)).status_code == 200
    again = world.client().get("/one-time", params=link)
    assert again.headers["Location"] == "/login?failed=link&next=%2Fdashboard" and "Set-Cookie" not in again.headers
    late = world.book.one_time_link_secret()
    world.clock.turn(minutes=15)
    assert "failed=link" in world.client().get("/one-time", params={"secret": late}).headers["Location"]
    far = closed.client().get("/one-time", params={"secret": closed.book.one_time_link_secret()})
    assert "failed=link" in far.headers["Location"]


def test_who_guesses_links_does_not_fill_the_log(world: World) -> None:
    for number in range(3):
        assert "failed=link" in world.client().get("/one-time", params={"secret": f"x{number}"}).headers["Location"]
    assert not world.book.audit.newest(10)
    world.client().get("/one-time", params={"secret": world.book.one_time_link_secret()})
    assert [(note.action, note.outcome) for note in world.book.audit.newest(10)] == [("one-time link", "ok")]


def test_own_tokens(world: World) -> None:
    client = world.logged_in("runner-1")
    header = csrf(client)
    made = client.post("/api/v1/tokens", json={"name": "ci", "scope": "runner", "expires_days": 7}, headers=header)
    assert made.status_code == 201 and made.headers["Cache-Control"] == "no-store"
    bearer = {"Authorization": f"Bearer {made.json()['token']}"}
    assert world.client().post("/things", headers=bearer).status_code == 200
    [listed] = client.get("/api/v1/tokens").json()
    assert listed["name"] == "ci" and listed["last_used_at"] and "token" not in listed and "hash" not in listed
    assert client.post("/api/v1/tokens", json={"name": "x", "scope": "admin"}, headers=header).status_code == 403
    assert client.post("/api/v1/tokens", json={"name": "x", "expires_days": 0}, headers=header).status_code == 422
    path = f"/api/v1/tokens/{listed['token_id']}"
    other = world.logged_in("admin-1")
    assert other.delete(path, headers=csrf(other)).status_code == 404
    assert world.client().delete(path, headers=bearer).status_code == 403
    assert world.client().post("/api/v1/tokens", json={"name": "more"}, headers=bearer).status_code == 403
    assert client.delete(path, headers=header).status_code == 204
    assert world.client().post("/things", headers=bearer).status_code == 401
    assert world.client().get("/api/v1/tokens").status_code == 401
    assert [note.action for note in world.book.audit.newest(2)] == ["remove token", "make token"]


def test_who_came_by_the_link_has_no_tokens(world: World) -> None:
    client = world.client()
    client.get("/one-time", params={"secret": world.book.one_time_link_secret()})
    answer = client.post("/api/v1/tokens", json={"name": "ci"}, headers=csrf(client))
    assert answer.status_code == 403 and "dyno users add" in answer.json()["detail"]


def test_too_many_tokens_are_a_conflict(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("modeldyno.web.access.tokens.MOST", 0)
    client = world.logged_in("runner-1")
    assert client.post("/api/v1/tokens", json={"name": "ci"}, headers=csrf(client)).status_code == 409


def test_admins_manage_users(world: World) -> None:
    client, header = world.client(), world.bearer("admin-1", Role.ADMIN)
    zoe = {"name": "zoe", "role": "viewer", "password": PASSWORD}
    added = client.post("/api/v1/users", json=zoe, headers=header)
    assert added.status_code == 201 and "password" not in added.text
    assert client.post("/api/v1/users", json=zoe, headers=header).status_code == 409
    assert client.post("/api/v1/users", json={**zoe, "name": "local"}, headers=header).status_code == 409
    assert client.post("/api/v1/users", json={**zoe, "name": "A b"}, headers=header).status_code == 422
    assert client.post("/api/v1/users", json={**zoe, "password": "short"}, headers=header).status_code == 422
    names = [user["name"] for user in client.get("/api/v1/users", headers=header).json()]
    assert names == ["admin-1", "runner-1", "viewer-1", "zoe"]
    assert client.delete("/api/v1/users/zoe", headers=header).status_code == 204
    assert client.delete("/api/v1/users/zoe", headers=header).status_code == 404
    assert client.delete("/api/v1/users/admin-1", headers=header).status_code == 409
    notes = client.get("/api/v1/audit", params={"limit": 2}, headers=header).json()
    assert [(note["who"], note["action"], note["target"]) for note in notes] == [
        ("admin-1", "remove user", "zoe"),
        ("admin-1", "add user", "zoe viewer"),
    ]


@pytest.mark.parametrize("path", ["/api/v1/users", "/api/v1/audit"])
def test_nobody_else_sees_users_and_the_log(world: World, path: str) -> None:
    assert world.client().get(path).status_code == 401
    assert world.logged_in("runner-1").get(path).status_code == 403
    assert world.client().get(path, headers=world.bearer("admin-1", Role.RUNNER)).status_code == 403


@pytest.mark.parametrize(
    "body",
    [
        rb'{"name": "\ud800", "role": "viewer", "password": "secret words"}',
        rb'{"\ud800": 1, "name": "zoe", "role": "viewer", "password": "secret words"}',
        b'{"name": NaN, "role": "boss", "password": "secret words"}',
        b'{"name": "zoe", "role": "viewer", "password": ["secret words"]}',
    ],
)
def test_wrong_bodies_are_told_and_not_sent_back(world: World, body: bytes) -> None:
    headers = {**world.bearer("admin-1", Role.ADMIN), "Content-Type": "application/json"}
    answer = world.client().post("/api/v1/users", content=body, headers=headers)
    assert answer.status_code == 422 and "secret words" not in answer.text
    assert answer.json()["detail"].startswith("body")
