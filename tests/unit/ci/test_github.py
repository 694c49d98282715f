"""The client against a real server on loopback: faults, limits, pages, refusals, and a token that stays secret."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Any

import pytest

from fake_github import REPOSITORY, TOKEN, FakeGitHub, Fault
from modeldyno.ci.comment import Done, put
from modeldyno.ci.github import MOST_WAIT_S, GitHub
from modeldyno.core.errors import InputError, JobError

Connect = Callable[..., GitHub]
MARK = "<!-- mark -->"
BODY = f"{MARK}\nhello"


def post(github: GitHub) -> Done:
    return put(github, 5, MARK, BODY)


def test_one_comment_is_created_then_updated_then_left(hub: FakeGitHub, connect: Connect) -> None:
    hub.add_comment(5, f"> {MARK}\n> hello\n\nwhat does this mean?")
    assert post(connect()).action == "created"
    assert put(connect(), 5, MARK, f"{MARK}\nother").action == "updated"
    assert put(connect(), 5, MARK, f"{MARK}\nother").action == "unchanged"
    assert hub.bodies(5)[1:] == [f"{MARK}\nother"]
    assert [line.split()[0] for line in hub.writes()] == ["POST", "PATCH"]


def test_all_pages_are_read(hub: FakeGitHub, connect: Connect) -> None:
    hub.page_size = 10
    for number in range(35):
        hub.add_comment(5, f"comment {number}")
    hub.add_comment(5, BODY)
    assert post(connect()).action == "unchanged"
    assert len(hub.requests) == 4


def test_a_stranger_cannot_take_the_place(hub: FakeGitHub, connect: Connect) -> None:
    hub.add_comment(5, BODY, user={"type": "User"}, author_association="CONTRIBUTOR")
    assert post(connect()).action == "created"
    hub.comments.clear()
    hub.add_comment(5, BODY, user={"type": "User"}, author_association="MEMBER")
    assert post(connect()).action == "unchanged"


@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
@pytest.mark.parametrize("fault", [{}, {"after": True}, {"drop": True}, {"drop": True, "after": True}])
def test_a_fault_leads_to_one_comment(
    hub: FakeGitHub, connect: Connect, clock: Any, method: str, fault: dict[str, bool]
) -> None:
    if method == "PATCH":
        hub.add_comment(5, f"{MARK}\nold")
    hub.faults = [Fault(method, **fault)]
    post(connect())
    assert hub.bodies(5) == [BODY]
    assert hub.faults == []
    assert clock.slept[0] == 1.0


def test_a_comment_made_just_before_the_time_ran_out_is_found(hub: FakeGitHub, connect: Connect) -> None:
    hub.faults = [Fault("POST", hang=True, after=True)]
    assert post(connect(timeout_s=0.3)).action == "created"
    assert hub.bodies(5) == [BODY]


def test_a_server_that_stays_broken_is_given_up(hub: FakeGitHub, connect: Connect, clock: Any) -> None:
    hub.faults = [Fault("GET", 503) for _ in range(9)]
    with pytest.raises(JobError, match=r"5 tries \(503 Server Error\); run it again later"):
        post(connect())
    assert clock.slept == [1, 2, 4, 8]
    assert len(hub.requests) == 5


def test_no_server_at_all(clock: Any) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
        github = GitHub(REPOSITORY, TOKEN, address, sleep=clock.sleep, now=clock.now)
        with pytest.raises(JobError, match=r"Connection refused"):
            post(github)


SECONDARY = '{"message": "You have exceeded a secondary rate limit."}'


@pytest.mark.parametrize(
    ("status", "headers", "body", "waits"),
    [
        (429, {"Retry-After": "7"}, "", 7),
        (403, {"Retry-After": "7"}, SECONDARY, 7),
        (403, {}, SECONDARY, 60),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800000120"}, '{"message": "x"}', 121),
        (403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5"}, '{"message": "x"}', 1),
        (429, {"Retry-After": "soon"}, "not JSON", 60),
        (503, {"Retry-After": "3"}, "", 3),
    ],
)
def test_limits_are_waited_for(
    hub: FakeGitHub, connect: Connect, clock: Any, status: int, headers: dict[str, str], body: str, waits: int
) -> None:
    hub.faults = [Fault("POST", status, headers, body)]
    assert post(connect()).action == "created"
    assert clock.slept[0] == waits
    assert hub.bodies(5) == [BODY]


def test_waiting_grows_while_a_secondary_limit_lasts_and_has_an_end(
    hub: FakeGitHub, connect: Connect, clock: Any
) -> None:
    hub.faults = [Fault("GET", 403, {}, SECONDARY) for _ in range(9)]
    with pytest.raises(JobError, match=r"limiting requests .* in 480 s, but dyno waits 600 s in all"):
        post(connect())
    assert clock.slept == [60, 120, 240]
    assert sum(clock.slept) <= MOST_WAIT_S


def test_a_limit_beyond_patience_is_said_at_once(hub: FakeGitHub, connect: Connect, clock: Any) -> None:
    hub.faults = [Fault("GET", 403, {"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1800003000"})]
    with pytest.raises(JobError, match=r"run it again after 2027-01-15 08:50 UTC"):
        post(connect())
    assert clock.slept == []


def test_writes_are_a_second_apart(connect: Connect, clock: Any) -> None:
    github = connect()
    put(github, 5, MARK, BODY)
    put(github, 6, MARK, BODY)
    assert clock.slept == [1.0]


@pytest.mark.parametrize(
    ("status", "body", "words"),
    [
        (401, '{"message": "Bad credentials"}', "GitHub does not accept the token (401 Bad credentials;"),
        (403, '{"message": "Resource not accessible by integration"}', "give the job `pull-requests: write`"),
        (404, '{"message": "Not Found"}', "check GITHUB_REPOSITORY, --pr"),
        (410, '{"message": "Issues are disabled for this repo"}', "Issues are switched off"),
        (422, '{"message": "Validation Failed", "errors": [{"message": "body is too long"}]}', "body is too long"),
        (301, '{"message": "Moved Permanently"}', "set GITHUB_REPOSITORY to its new name"),
        (418, "<html>teapot</html>", "GitHub refused it (418; POST"),
        (400, f'{{"message": "no\\n {TOKEN}"}}', "(400 no ***;"),
        (400, '["odd"]', "(400; POST"),
    ],
)
def test_a_refusal_is_one_sentence_and_is_not_repeated(
    hub: FakeGitHub, connect: Connect, status: int, body: str, words: str
) -> None:
    hub.faults = [Fault("POST", status, {"Location": "http://127.0.0.1:1/"}, body)]
    with pytest.raises(JobError) as caught:
        post(connect())
    assert words in str(caught.value)
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert TOKEN not in str(caught.value)
    assert len(hub.writes()) == 1


@pytest.mark.parametrize(
    ("method", "body", "headers"),
    [
        ("GET", "<html>please log in</html>", {}),
        ("GET", '{"a": 1}', {}),
        ("GET", "[1]", {}),
        ("GET", "[]", {"Link": '<https://elsewhere.test/steal>; rel="next"'}),
        ("POST", '{"id": "x"}', {}),
    ],
)
def test_an_answer_that_is_not_githubs(
    hub: FakeGitHub, connect: Connect, method: str, body: str, headers: dict[str, str]
) -> None:
    hub.faults = [Fault(method, 200, headers, body)]
    with pytest.raises(JobError, match="check GITHUB_API_URL"):
        post(connect())


def test_what_the_environment_says(hub: FakeGitHub) -> None:
    environment = hub.environment()
    assert GitHub.from_environment({**environment, "GITHUB_TOKEN": " "}) is None
    second = {**environment, "GITHUB_TOKEN": "", "GH_TOKEN": f" {TOKEN}\n"}
    github = GitHub.from_environment(second)
    assert github is not None
    assert post(github).action == "created"
    assert TOKEN not in repr(github)


def test_owners_that_a_company_manages_have_an_underscore(hub: FakeGitHub) -> None:
    github = GitHub.from_environment({**hub.environment(), "GITHUB_REPOSITORY": "mona-cat_acme/hello.world"})
    assert github is not None
    assert github.repository == "mona-cat_acme/hello.world"


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("GITHUB_TOKEN", "ghs_se\ncret", "set GITHUB_TOKEN or GH_TOKEN anew"),
        ("GITHUB_TOKEN", "ghs_sécret", "set GITHUB_TOKEN or GH_TOKEN anew"),
        ("GITHUB_REPOSITORY", "", "OWNER/NAME"),
        ("GITHUB_REPOSITORY", "a/b/../../c", "OWNER/NAME"),
        ("GITHUB_API_URL", "http://api.github.test", "https://"),
        ("GITHUB_API_URL", "file:///etc/passwd", "https://"),
    ],
)
def test_an_environment_that_cannot_be_meant(hub: FakeGitHub, name: str, value: str, words: str) -> None:
    with pytest.raises(InputError) as caught:
        GitHub.from_environment({**hub.environment(), name: value})
    assert words in str(caught.value)
    assert "cret" not in str(caught.value)
    assert hub.requests == []
