"""Requests with and without a log-in, through a real application."""

from __future__ import annotations

import pytest
from access_world import HERE, World, csrf

from modeldyno.web.access.guard import COOKIE
from modeldyno.web.access.roles import Role

CALLS = [("GET", Role.VIEWER), ("POST", Role.RUNNER), ("DELETE", Role.ADMIN)]


@pytest.mark.parametrize("how", ["cookie", "token"])
@pytest.mark.parametrize("own", list(Role))
@pytest.mark.parametrize(("method", "needed"), CALLS)
def test_each_role_may_what_it_may(world: World, own: Role, method: str, needed: Role, how: str) -> None:
    client = world.logged_in(f"{own}-1") if how == "cookie" else world.client()
    headers = csrf(client) if how == "cookie" else world.bearer(f"{own}-1", own)
    answer = client.request(method, "/things", headers=headers)
    assert answer.status_code == (200 if own >= needed else 403)
    if own < needed:
        assert answer.json()["detail"] == f"This needs the role {needed}, and {own}-1 comes as {own}; ask an admin."


def test_reading_is_open_and_nothing_else(world: World) -> None:
    client = world.client()
    assert client.get("/things").json() == "anonymous"
    for method in ("POST", "DELETE"):
        answer = client.request(method, "/things")
        assert answer.status_code == 401 and answer.headers["WWW-Authenticate"] == "Bearer"
        assert "/login" in answer.json()["detail"]
    assert client.get("/api/v1/me").json() == {"name": "anonymous", "role": "viewer", "how": "anonymous", "csrf": None}


def test_reading_needs_a_login_where_others_reach_it(closed: World) -> None:
    assert closed.client().get("/things").status_code == 401
    assert closed.logged_in("viewer-1").get("/things").json() == "viewer-1"
    assert closed.client().get("/things", headers=closed.bearer("viewer-1", Role.VIEWER)).json() == "viewer-1"
    page = closed.client().get("/things?a=1&b=/x", headers={"Accept": "text/html"})
    assert page.status_code == 303
    assert page.headers["Location"] == "/login?next=%2Fthings%3Fa%3D1%26b%3D%2Fx"


@pytest.mark.parametrize("header", ["Bearer", "Bearer ", "bearer x", "Bearer dyno_0123456789abcdef_" + "A" * 43])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_wrong_token_is_refused_even_where_reading_is_open(world: World, method: str, header: str) -> None:
    client = world.logged_in("admin-1")  # and a session does not make up for it
    answer = client.request(method, "/things", headers={"Authorization": header})
    assert answer.status_code == 401


def test_a_token_ends_with_its_time_and_its_user(world: World) -> None:
    client, ended = world.client(), world.bearer("runner-1", Role.RUNNER)
    assert client.post("/things", headers=ended).status_code == 200
    world.clock.turn(days=90)
    assert client.post("/things", headers=ended).status_code == 401
    orphaned = world.bearer("runner-1", Role.RUNNER)
    world.book.users.remove("runner-1")
    assert client.get("/things", headers=orphaned).status_code == 401


def test_a_token_can_do_less_than_its_user(world: World) -> None:
    headers = world.bearer("admin-1", Role.RUNNER)
    assert world.client().post("/things", headers=headers).status_code == 200
    assert world.client().delete("/things", headers=headers).status_code == 403


def test_a_session_needs_its_own_csrf_token(world: World) -> None:
    client, other = world.logged_in("admin-1"), world.logged_in("admin-1")
    assert client.post("/things").status_code == 403
    for wrong in ("", "x", "\u00e9", csrf(other)["X-CSRF-Token"]):
        answer = client.post("/things", headers={"X-CSRF-Token": wrong.encode()})
        assert answer.status_code == 403 and "CSRF" in answer.json()["detail"]
    assert client.post("/things", headers=csrf(client)).status_code == 200


def test_the_csrf_token_may_come_in_a_form(world: World) -> None:
    client = world.logged_in("admin-1")
    right = {"csrf_token": csrf(client)["X-CSRF-Token"]}
    assert client.post("/things", data=right).status_code == 200
    assert client.post("/things", data={"csrf_token": "x"}).status_code == 403
    assert client.post("/things", data={}, files={"csrf_token": b"x"}).status_code == 403
    assert client.post("/things", params=right).status_code == 403  # addresses are kept in logs
    broken = {"Content-Type": "multipart/form-data; boundary=x"}
    assert client.post("/things", content=b"--y broken", headers=broken).status_code == 403
    wrong_header = {"X-CSRF-Token": "x"}
    assert client.post("/things", data=right, headers=wrong_header).status_code == 403


FOREIGN = [
    {"Origin": "https://evil.example"},
    {"Origin": "null"},
    {"Origin": "http://127.0.0.1:9999"},
    {"Origin": "http://127.0.0.1:8000.evil.example"},
    {"Origin": "http://[broken"},
    {"Origin": ""},
    {"Sec-Fetch-Site": "cross-site"},
    {"Sec-Fetch-Site": "same-site"},
]


@pytest.mark.parametrize("foreign", FOREIGN, ids=str)
def test_other_sites_cannot_write(world: World, foreign: dict[str, str]) -> None:
    client = world.logged_in("admin-1")
    answer = client.post("/things", headers={**csrf(client), **foreign})
    assert answer.status_code == 403 and "another site" in answer.json()["detail"]
    assert client.get("/things", headers=foreign).status_code == 200


@pytest.mark.parametrize(
    "own", [{"Origin": HERE}, {"Origin": "http://bench.example.org"}, {"Sec-Fetch-Site": "same-origin"}], ids=str
)
def test_the_own_pages_can(world: World, own: dict[str, str]) -> None:
    client = world.logged_in("admin-1")
    assert client.post("/things", headers={**csrf(client), **own}).status_code == 200


def test_a_session_ends(world: World) -> None:
    client = world.logged_in("viewer-1")
    assert client.get("/things").json() == "viewer-1"
    world.clock.turn(hours=12)
    assert client.get("/things").json() == "anonymous"


def test_a_removed_user_is_out_at_once(world: World) -> None:
    client = world.logged_in("runner-1")
    header = csrf(client)
    world.book.users.remove("runner-1")
    assert client.post("/things", headers=header).status_code == 401


def test_a_link_for_this_machine_opens_nothing_where_others_reach_it(closed: World) -> None:
    client = closed.client()
    client.cookies.set(COOKIE, closed.book.sessions.redeem(closed.book.one_time_link_secret()) or "")
    assert client.get("/things").status_code == 401


def test_openapi_says_what_is_needed(world: World, closed: World) -> None:
    paths = world.client().get("/openapi.json").json()["paths"]
    assert paths["/things"]["post"]["security"] == [{"token": []}, {"session": []}]
    assert "security" not in paths["/things"]["get"]
    assert "security" in closed.app.openapi()["paths"]["/things"]["get"]


def test_openapi_tells_refusals_as_they_are_sent(world: World) -> None:
    paths = world.app.openapi()["paths"]
    for path in ("/login", "/logout", "/one-time", *(path for path in paths if path.startswith("/api/v1/"))):
        for operation in paths[path].values():
            told = {status: set(answer["content"]) for status, answer in operation["responses"].items() if status > "4"}
            assert all(kinds == {"application/problem+json"} for kinds in told.values()), (path, told)
    refused = world.client().get("/api/v1/users")
    assert refused.status_code == 401 and refused.headers["Content-Type"] == "application/problem+json"
