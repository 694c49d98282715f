"""A server on loopback that speaks the few endpoints of GitHub's API that dyno uses, keeps state, and can misbehave."""

from __future__ import annotations

import json
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

REPOSITORY = "octo/speed"
TOKEN = "ghs_verysecret"


@dataclass
class Fault:
    """What the next request of this method meets instead of an answer."""

    method: str
    status: int = 502
    headers: dict[str, str] = field(default_factory=dict)
    body: str = '{"message": "Server Error"}'
    after: bool = False
    """What was asked for is done first, and then nobody is told."""
    drop: bool = False
    """The connection breaks off."""
    hang: bool = False
    """No answer until the server is closed."""


class FakeGitHub:
    """State of one repository."""

    def __init__(self) -> None:
        self.comments: list[dict[str, Any]] = []
        self.issues: list[dict[str, Any]] = []
        self.requests: list[str] = []
        self.faults: list[Fault] = []
        self.page_size = 100
        self.longest = 65_536
        self.author = {"user": {"type": "Bot", "login": "github-actions[bot]"}, "author_association": "NONE"}
        self.closing = threading.Event()
        self.lock = threading.Lock()
        self.url = ""

    def environment(self) -> dict[str, str]:
        return {"GITHUB_API_URL": self.url, "GITHUB_TOKEN": TOKEN, "GITHUB_REPOSITORY": REPOSITORY}

    def bodies(self, number: int) -> list[str]:
        return [comment["body"] for comment in self.comments if comment["issue"] == number]

    def writes(self) -> list[str]:
        return [line for line in self.requests if not line.startswith("GET")]

    def fault_for(self, method: str) -> Fault | None:
        found = next((fault for fault in self.faults if fault.method == method), None)
        if found:
            self.faults.remove(found)
        return found

    def add_comment(self, number: int, body: str, **more: Any) -> dict[str, Any]:
        made = {"id": len(self.comments) + 1000, "issue": number, "body": body, **self.author, **more}
        made["html_url"] = f"https://github.test/{REPOSITORY}/issues/{number}#issuecomment-{made['id']}"
        self.comments.append(made)
        return made

    def add_issue(self, document: dict[str, Any], **more: Any) -> dict[str, Any]:
        number = len(self.issues) + 1
        made = {"id": number + 5000, "number": number, "state": "open", **document, **self.author, **more}
        made["html_url"] = f"https://github.test/{REPOSITORY}/issues/{number}"
        self.issues.append(made)
        return made

    def act(self, method: str, path: str, document: Any) -> tuple[int, Any]:
        """Status and document of a request that is in order."""
        if document and len(document.get("body", "")) > self.longest:
            return 422, {"message": "Validation Failed", "errors": [{"code": "custom", "message": "body is too long"}]}
        if found := re.fullmatch(r"/issues/(\d+)/comments", path):
            number = int(found[1])
            if method == "POST":
                return 201, self.add_comment(number, document["body"])
            return 200, [comment for comment in self.comments if comment["issue"] == number]
        if path == "/issues":
            return (201, self.add_issue(document)) if method == "POST" else (200, self._open())
        return self._change(method, path, document)

    def _open(self) -> list[dict[str, Any]]:
        return [issue for issue in self.issues if issue["state"] == "open"]

    def _change(self, method: str, path: str, document: Any) -> tuple[int, Any]:
        patterns = {r"/issues/comments/(\d+)": ("id", self.comments), r"/issues/(\d+)": ("number", self.issues)}
        for pattern, (key, entries) in patterns.items():
            found = re.fullmatch(pattern, path)
            for entry in entries if found and method == "PATCH" else []:
                if found and entry[key] == int(found[1]):
                    entry.update(document)
                    return 200, entry
        return 404, {"message": "Not Found"}


class _Handler(BaseHTTPRequestHandler):
    server: _Server

    def _serve(self) -> None:
        hub = self.server.hub
        length = int(self.headers.get("Content-Length") or 0)
        document = json.loads(self.rfile.read(length)) if length else None
        url = urlsplit(self.path)
        with hub.lock:
            hub.requests.append(f"{self.command} {self.path}")
            fault = hub.fault_for(self.command)
            if fault is None or fault.after:
                status, answer, headers = self._answer(url.path, parse_qs(url.query), document)
        if fault is None:
            self._send(status, json.dumps(answer), headers)
        elif fault.hang:
            hub.closing.wait(20)
        elif not fault.drop:
            self._send(fault.status, fault.body, fault.headers)

    def _answer(self, path: str, query: dict[str, list[str]], document: Any) -> tuple[int, Any, dict[str, str]]:
        hub = self.server.hub
        if self.headers.get("Authorization") != f"Bearer {TOKEN}":
            return 401, {"message": "Bad credentials"}, {}
        if not path.startswith(f"/repos/{REPOSITORY}/"):
            return 404, {"message": "Not Found"}, {}
        status, answer = hub.act(self.command, path.removeprefix(f"/repos/{REPOSITORY}"), document)
        if not isinstance(answer, list):
            return status, answer, {}
        page, size = int(query.get("page", ["1"])[0]), min(int(query["per_page"][0]), hub.page_size)
        more = f'<{hub.url}{path}?per_page={size}&page={page + 1}>; rel="next", <{hub.url}{path}>; rel="last"'
        headers = {"Link": more} if page * size < len(answer) else {}
        return status, answer[(page - 1) * size : page * size], headers

    def _send(self, status: int, text: str, headers: dict[str, str]) -> None:
        content = text.encode()
        self.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = do_PATCH = _serve

    def log_message(self, format: str, *args: Any) -> None:
        """Tests are silent."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self, hub: FakeGitHub) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.hub = hub

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that went away is what some tests want."""


@contextmanager
def fake_github() -> Iterator[FakeGitHub]:
    """The server while the block lasts."""
    hub = FakeGitHub()
    with _Server(hub) as server:
        hub.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield hub
        finally:
            hub.closing.set()
            server.shutdown()
            thread.join()
