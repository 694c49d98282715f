"""The few calls of GitHub's REST API that a comment and an issue need; patient with faults and with rate limits.

The rules are those of docs.github.com: "Best practices for using the REST API" and "Rate limits for the REST API"."""

from __future__ import annotations

import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import Message
from http.client import HTTPException, HTTPResponse
from typing import Any
from urllib.parse import urlencode, urlsplit
from urllib.request import HTTPErrorProcessor, Request, build_opener

from pydantic import BaseModel, ConfigDict, ValidationError

from modeldyno.core.errors import InputError, JobError

API = "https://api.github.com"
TRIES = 5
TIMEOUT_S = 30.0
MOST_WAIT_S = 600.0
"""Of one command in all, for faults and rate limits together."""
BETWEEN_WRITES_S = 1.0
SECONDARY_WAIT_S = 60.0
"""First wait after a secondary limit that names none."""
_INSIDERS = ("OWNER", "MEMBER", "COLLABORATOR")
_LOOPBACK = ("127.0.0.1", "::1", "localhost")


class Author(BaseModel):
    """Who wrote it."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    type: str


class Posted(BaseModel):
    """What dyno needs to know of a comment or an issue."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    id: int
    number: int = 0
    """Of an issue."""
    html_url: str
    body: str | None = None
    pull_request: dict[str, Any] | None = None
    """There only where an issue is in fact a pull request."""
    user: Author | None = None
    author_association: str = "NONE"

    def carries(self, marker: str) -> bool:
        """Whether dyno wrote it for this purpose; a reply that quotes it does not begin so, and a stranger's is not."""
        trusted = self.author_association in _INSIDERS or (self.user is not None and self.user.type == "Bot")
        return trusted and (self.body or "").startswith(marker)


Find = Callable[[], Posted | None]


@dataclass(frozen=True)
class Answer:
    """What came back; no status where nothing did."""

    status: int | None
    headers: Message
    content: bytes
    fault: str = ""
    """Why nothing came back."""

    @property
    def document(self) -> Any:
        try:
            return json.loads(self.content)
        except ValueError:
            return None

    @property
    def message(self) -> str:
        """The API's own words on what is wrong."""
        document = self.document
        if not isinstance(document, dict):
            return ""
        errors = document.get("errors")
        first = errors[0] if isinstance(errors, list) and errors else None
        detail = first.get("message") or first.get("code") if isinstance(first, dict) else first
        return ": ".join(str(part) for part in (document.get("message"), detail) if part)

    @property
    def is_limit(self) -> bool:
        """Refused for too many requests: the primary limit, or a secondary one."""
        if self.status == 429:
            return True
        spent = self.headers.get("X-RateLimit-Remaining") == "0" or "Retry-After" in self.headers
        return self.status == 403 and (spent or "rate limit" in self.message.lower())

    @property
    def is_fault(self) -> bool:
        """Nothing came back, or the server broke; what was asked for may have happened or not."""
        return self.status is None or self.status >= 500


class _AsItCame(HTTPErrorProcessor):
    """Every answer is handed back: no exception, and no redirect that would carry the token to another host."""

    def http_response(self, request: Request, response: HTTPResponse) -> HTTPResponse:  # noqa: ARG002
        return response

    https_response = http_response


class GitHub:
    """One repository, as the token may see and change it."""

    def __init__(
        self,
        repository: str,
        token: str,
        api: str = API,
        *,
        timeout_s: float = TIMEOUT_S,
        sleep: Callable[[float], None] = time.sleep,
        now: Callable[[], float] = time.time,
    ) -> None:
        self.repository = _repository(repository)
        self._token = _token(token)
        self._api = _address(api)
        self._timeout_s = timeout_s
        self._sleep = sleep
        self._now = now
        self._waited_s = 0.0
        self._last_write = -BETWEEN_WRITES_S
        self._opener = build_opener(_AsItCame)

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> GitHub | None:
        """As a job of GitHub Actions describes itself; None without a token."""
        token = environment.get("GITHUB_TOKEN", "").strip() or environment.get("GH_TOKEN", "").strip()
        if not token:
            return None
        repository = environment.get("GITHUB_REPOSITORY", "")
        return cls(repository, token, environment.get("GITHUB_API_URL", "").strip() or API)

    def comments(self, number: int) -> Iterator[Posted]:
        """The comments on an issue or pull request, oldest first."""
        return self._pages(f"issues/{number}/comments")

    def add_comment(self, number: int, body: str, find: Find) -> Posted:
        return self._create(f"issues/{number}/comments", {"body": body}, find)

    def edit_comment(self, comment: Posted, body: str) -> Posted:
        return self._change(f"issues/comments/{comment.id}", {"body": body})

    def open_issues(self) -> Iterator[Posted]:
        """The open issues; pull requests, which GitHub lists among them, left out."""
        issues = self._pages("issues", state="open")
        return (issue for issue in issues if issue.pull_request is None)

    def add_issue(self, title: str, body: str, labels: Sequence[str], find: Find) -> Posted:
        return self._create("issues", {"title": title, "body": body, "labels": list(labels)}, find)

    def close_issue(self, issue: Posted) -> Posted:
        return self._change(f"issues/{issue.number}", {"state": "closed", "state_reason": "completed"})

    def _pages(self, path: str, **query: str) -> Iterator[Posted]:
        url: str | None = f"{self._url(path)}?{urlencode({**query, 'per_page': 100})}"
        while url:
            answer = self._ask("GET", url)
            if not isinstance(answer.document, list):
                raise self._odd(url)
            yield from (self._posted(entry, url) for entry in answer.document)
            url = self._next(answer)

    def _next(self, answer: Answer) -> str | None:
        """The next page by the Link header; never on another host, which would be shown the token."""
        found = re.search(r'<([^<>]+)>\s*;[^,]*\brel="?next\b', answer.headers.get("Link", ""))
        if found and not found[1].startswith(f"{self._api}/"):
            raise self._odd(found[1])
        return found[1] if found else None

    def _create(self, path: str, payload: dict[str, Any], find: Find) -> Posted:
        """Posts once: after a fault that leaves open whether it happened, it is looked for before the next try."""
        url = self._url(path)
        for attempt in range(TRIES):
            answer = self._once("POST", url, payload)
            if not self._again(answer, attempt, "POST", url):
                return self._posted(answer.document, url)
            if answer.is_fault and (found := find()):
                return found
        raise self._gave_up("POST", url, answer)

    def _change(self, path: str, payload: dict[str, Any]) -> Posted:
        url = self._url(path)
        return self._posted(self._ask("PATCH", url, payload).document, url)

    def _ask(self, method: str, url: str, payload: dict[str, Any] | None = None) -> Answer:
        """For what may be said twice."""
        for attempt in range(TRIES):
            answer = self._once(method, url, payload)
            if not self._again(answer, attempt, method, url):
                return answer
        raise self._gave_up(method, url, answer)

    def _again(self, answer: Answer, attempt: int, method: str, url: str) -> bool:
        """Whether to try again, after the wait that takes; what no second try can mend is an error."""
        if answer.is_limit or answer.is_fault:
            if attempt + 1 < TRIES:
                self._wait(self._pause_s(answer, attempt), answer)
            return True
        if answer.status is not None and answer.status >= 300:
            raise self._refusal(answer, method, url)
        return False

    def _pause_s(self, answer: Answer, attempt: int) -> float:
        """As the answer says, or until the limit is reset; else what the rules ask for, and after a fault less."""
        named = _seconds(answer.headers.get("Retry-After"))
        if named is not None:
            return named
        if answer.is_fault:
            return 2.0**attempt
        reset = _seconds(answer.headers.get("X-RateLimit-Reset"))
        if answer.headers.get("X-RateLimit-Remaining") == "0" and reset is not None:
            return max(0.0, reset - self._now()) + 1.0
        return SECONDARY_WAIT_S * 2.0**attempt

    def _wait(self, seconds: float, answer: Answer) -> None:
        if self._waited_s + seconds > MOST_WAIT_S:
            after = datetime.fromtimestamp(min(self._now() + seconds, 4e9), UTC)
            raise JobError(
                f"GitHub {'is limiting requests' if answer.is_limit else 'is out of order'} and the next try is "
                f"due in {seconds:.0f} s, but dyno waits {MOST_WAIT_S:.0f} s in all; "
                f"run it again after {after:%Y-%m-%d %H:%M} UTC."
            )
        self._waited_s += seconds
        self._sleep(seconds)

    def _once(self, method: str, url: str, payload: dict[str, Any] | None) -> Answer:
        if method != "GET":
            self._pace()
        data = None if payload is None else json.dumps(payload).encode()
        request = Request(url, data=data, method=method, headers=_HEADERS)
        request.add_unredirected_header("Authorization", f"Bearer {self._token}")
        try:
            with self._opener.open(request, timeout=self._timeout_s) as response:
                return Answer(response.status, response.headers, response.read())
        except (OSError, HTTPException) as error:  # a URLError is an OSError
            return Answer(None, Message(), b"", str(getattr(error, "reason", error)) or type(error).__name__)

    def _pace(self) -> None:
        """A second between writes, as the rules ask for."""
        early = self._last_write + BETWEEN_WRITES_S - self._now()
        if early > 0:
            self._sleep(min(early, BETWEEN_WRITES_S))
        self._last_write = self._now()

    def _url(self, path: str) -> str:
        return f"{self._api}/repos/{self.repository}/{path}"

    def _posted(self, document: Any, url: str) -> Posted:
        try:
            return Posted.model_validate(document)
        except ValidationError:
            raise self._odd(url) from None

    def _odd(self, url: str) -> JobError:
        return JobError(f"What {self._safe(url)} answered is not what GitHub answers; check GITHUB_API_URL.")

    def _gave_up(self, method: str, url: str, answer: Answer) -> JobError:
        last = self._safe(answer.fault or f"{answer.status} {answer.message}".strip())
        return JobError(f"{method} {self._safe(url)} did not succeed in {TRIES} tries ({last}); run it again later.")

    def _refusal(self, answer: Answer, method: str, url: str) -> JobError:
        status = answer.status or 0
        what, remedy = _REFUSALS.get(status, ("GitHub refused it", "see what GitHub says and run it again"))
        said = f"{status} {self._safe(answer.message)}".strip()
        return JobError(f"{what} ({said}; {method} {urlsplit(url).path}); {remedy}.")

    def _safe(self, text: str) -> str:
        """Words of the server, short, on one line, and without the token."""
        return " ".join(text.replace(self._token, "***").split())[:200]


_HEADERS = {
    "Accept": "application/vnd.github+json",
    "Content-Type": "application/json",
    "User-Agent": "modeldyno",
    "X-GitHub-Api-Version": "2022-11-28",
}
_MOVED = ("The repository has moved", "set GITHUB_REPOSITORY to its new name")
_REFUSALS = {
    301: _MOVED,
    307: _MOVED,
    308: _MOVED,
    401: ("GitHub does not accept the token", "set GITHUB_TOKEN or GH_TOKEN to one that is valid"),
    403: ("The token may not do this", "give the job `pull-requests: write` for comments, `issues: write` for issues"),
    404: (
        "GitHub finds no such repository, pull request or comment that the token may see",
        "check GITHUB_REPOSITORY, --pr and the token's permissions",
    ),
    410: ("Issues are switched off in this repository", "switch them on in its settings"),
    422: ("GitHub cannot take the content", "look at it with --dry-run"),
}


def _repository(text: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+/[A-Za-z0-9._-]+", text):
        raise InputError("GITHUB_REPOSITORY is not OWNER/NAME; set it, for example to octocat/hello-world.")
    return text


def _token(text: str) -> str:
    if not re.fullmatch(r"[!-~]+", text):
        raise InputError("The token has characters that no token has; set GITHUB_TOKEN or GH_TOKEN anew.")
    return text


def _address(text: str) -> str:
    """Where the API is; a token travels encrypted or not beyond this machine."""
    parts = urlsplit(text)
    if parts.scheme == "https" or (parts.scheme == "http" and parts.hostname in _LOOPBACK):
        return text.rstrip("/")
    raise InputError("GITHUB_API_URL does not begin with https://; set it as GitHub does, or unset it.")


def _seconds(text: str | None) -> float | None:
    """A header that counts seconds; None where it is absent or something else."""
    return float(text) if text and re.fullmatch(r"\d{1,12}", text.strip()) else None
