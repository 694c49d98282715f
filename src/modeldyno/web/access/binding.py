"""Where the server may listen, and under which names it answers there."""

from __future__ import annotations

import ipaddress
import json
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from modeldyno.core.errors import InputError
from modeldyno.web.access.book import Book

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


def check_binding(host: str, book: Book) -> bool:
    """Whether only this machine reaches the address; an InputError where others do and nobody could log in."""
    if is_loopback(host):
        return True
    if not book.users.all():
        raise InputError(
            f"Others can reach {host or 'all addresses'}, and there is no user who could log in; "
            "add one first: dyno users add NAME --role admin"
        )
    return False


def is_loopback(host: str) -> bool:
    """127.0.0.0/8, ::1 and localhost; names are not looked up, for the answer may change."""
    name = host.strip().lower().removeprefix("[").removesuffix("]").rstrip(".")
    if name == "localhost":
        return True
    try:
        address = ipaddress.ip_address(name)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


class LoopbackNames:
    """Middleware for loopback binds: answers only requests that mean this machine.

    Where reading is open, a page elsewhere could have its own name lead to 127.0.0.1 (DNS rebinding) and read along."""

    def __init__(self, app: ASGIApp, public_url: str | None = None) -> None:
        self._app = app
        self._public = urlsplit(public_url or "").hostname

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan" or self._is_meant(_host(scope)):
            await self._app(scope, receive, send)
        elif scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
        else:
            await _refuse(send)

    def _is_meant(self, host: str) -> bool:
        return is_loopback(host) or (self._public is not None and host.lower() == self._public)


def _host(scope: Scope) -> str:
    """The Host header without its port."""
    named = next((value for name, value in scope["headers"] if name == b"host"), b"").decode("latin-1")
    if named.startswith("["):
        return named.partition("]")[0] + "]"
    return named.partition(":")[0]


async def _refuse(send: Send) -> None:
    sentence = "This server answers only as localhost or 127.0.0.1; open it under that name."
    body = json.dumps({"detail": sentence}).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    await send({"type": "http.response.start", "status": 403, "headers": headers})
    await send({"type": "http.response.body", "body": body})
