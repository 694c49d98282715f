"""What every request passes: limits on its body, headers that keep browsers in line, figures and a line of the log."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import Counter
from typing import TYPE_CHECKING, Any

from starlette.exceptions import HTTPException

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

LOG = logging.getLogger("modeldyno.web")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; "
    "font-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'"
)
HEADERS = (
    (b"content-security-policy", POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"permissions-policy", b"camera=(), microphone=(), geolocation=()"),
)
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS")
BOUNDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Of the histogram of durations, in seconds."""


class Figures:
    """Requests by route, for Prometheus."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, str, int]] = Counter()
        self.seconds: Counter[tuple[str, float]] = Counter()
        """By route and upper bound; each counts all that were faster."""
        self.sums: Counter[str] = Counter()

    def note(self, method: str, route: str, status: int, seconds: float) -> None:
        self.requests[method if method in METHODS else "other", route, status] += 1
        self.sums[route] += seconds  # type: ignore[assignment]  # a Counter adds floats as well
        for bound in BOUNDS:
            if seconds <= bound:
                self.seconds[route, bound] += 1


class TooMuch(HTTPException):
    """The body is larger, or came slower, than is allowed. FastAPI lets errors of this kind through as they are."""


class Passage:
    """Plain ASGI: it costs microseconds."""

    def __init__(self, app: ASGIApp, figures: Figures, largest_body: int, slowest_body_s: float, log: str) -> None:
        self._app, self._figures = app, figures
        self._largest, self._slowest_s = largest_body, slowest_body_s
        self._log = log

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        begin, status = time.perf_counter(), 500

        async def answer(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                took = f"app;dur={(time.perf_counter() - begin) * 1e3:.2f}".encode()
                said = {name.lower() for name, _ in message["headers"]}
                ours = [pair for pair in HEADERS if pair[0] not in said]
                message = {**message, "headers": [*message["headers"], *ours, (b"server-timing", took)]}
            await send(message)

        try:
            await self._app(scope, _limited(scope, receive, self._largest, self._slowest_s), answer)
        except TooMuch as error:
            await _refuse(answer, error)
        finally:
            self._note(scope, status, time.perf_counter() - begin)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        route = getattr(scope.get("route"), "path", "none")
        self._figures.note(scope["method"], route, status, seconds)
        line = {"method": scope["method"], "path": scope["path"], "status": status, "ms": round(seconds * 1e3, 1)}
        client = scope.get("client")
        LOG.info(log_line(self._log, "request", line | {"client": client[0] if client else None}))


def log_line(form: str, event: str, fields: dict[str, Any]) -> str:
    """One line, whatever stands in the fields."""
    if form == "json":
        return json.dumps({"at": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "event": event, **fields})
    return " ".join([event, *(f"{name}={json.dumps(value)}" for name, value in fields.items())])


def _limited(scope: Scope, receive: Receive, largest: int, slowest_s: float) -> Receive:
    told = next((value for name, value in scope["headers"] if name == b"content-length"), b"0")
    if told.isdigit() and int(told) > largest:

        async def refuse() -> Message:
            raise TooMuch(413, f"The body has more than {largest / 1e6:g} MB; send it in parts.")

        return refuse
    deadline, seen, done = time.monotonic() + slowest_s, 0, False

    async def limited() -> Message:
        nonlocal seen, done
        if done:  # what follows the body is only whether the client has gone
            return await receive()
        try:
            message = await asyncio.wait_for(receive(), max(0.0, deadline - time.monotonic()))
        except TimeoutError:
            raise TooMuch(408, f"The body did not arrive within {slowest_s:g} s; send it again.") from None
        if message["type"] == "http.request":
            seen += len(message.get("body", b""))
            done = not message.get("more_body", False)
            if seen > largest:
                raise TooMuch(413, f"The body has more than {largest / 1e6:g} MB; send it in parts.")
        return message

    return limited


async def _refuse(send: Send, error: TooMuch) -> None:
    document = {"type": "about:blank", "title": "The request cannot be taken", "status": error.status_code}
    content = json.dumps(document | {"detail": error.detail}).encode()
    headers = [(b"content-type", b"application/problem+json"), (b"connection", b"close")]
    await send({"type": "http.response.start", "status": error.status_code, "headers": headers})
    await send({"type": "http.response.body", "body": content})
