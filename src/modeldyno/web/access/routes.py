"""The routes of access: to log in and out, and the JSON ones under /api/v1."""

from __future__ import annotations

import re
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from modeldyno.web.access.account_routes import account_routes
from modeldyno.web.access.answers import DENIED, UNREADABLE, WRONG, log_in_address, refusals, wants_page
from modeldyno.web.access.guard import COOKIE, Guard, address_of
from modeldyno.web.access.passwords import LONGEST as LONGEST_PASSWORD
from modeldyno.web.access.roles import LOCAL, AccessDenied, Person
from modeldyno.web.access.sessions import LONGEST
from modeldyno.web.access.user_routes import user_routes

START = "/dashboard"
_LOCAL_PATH = re.compile(r"/(?![/\\])[^\\\x00-\x20\x7f]*")
_THROTTLED = refusals(s429="Too many log-ins failed; Retry-After says when to try again. Browsers are led to /login.")
_PRIVATE = {"Cache-Control": "no-store", "Referrer-Policy": "no-referrer"}


def routes(guard: Guard) -> APIRouter:
    """All of them, for `app.include_router`."""
    router = APIRouter(tags=["access"])
    router.include_router(_door(guard))
    router.include_router(account_routes(guard))
    router.include_router(user_routes(guard))
    return router


def local_path(next: str) -> str:
    """A path of this server; whatever could lead elsewhere is the dashboard instead."""
    return next if _LOCAL_PATH.fullmatch(next) else START


def _door(guard: Guard) -> APIRouter:
    router = APIRouter(default_response_class=RedirectResponse)
    refused = refusals(s403="The request comes from another site.")

    @router.post("/login", status_code=303, responses={**UNREADABLE, **WRONG, **refused, **_THROTTLED})
    def log_in(
        request: Request,
        name: Annotated[str, Form(max_length=64)] = "",
        password: Annotated[str, Form(max_length=LONGEST_PASSWORD)] = "",
        next: Annotated[str, Form(max_length=2000)] = START,
    ) -> Response:
        """Log in; leads to `next` with the cookie, or back to the page."""
        guard.refuse_foreign(request)
        try:
            secret = guard.book.log_in(name, password, address_of(request))
        except AccessDenied as error:
            return _throttled(request, error, local_path(next))
        if secret is None:
            return _leads_to(log_in_address(local_path(next), failed="1"))
        return _enter(guard, request, secret, local_path(next))

    @router.post("/logout", status_code=303, responses=DENIED)
    def log_out(request: Request, person: Person = Depends(guard.needs_login())) -> Response:
        """End the session."""
        guard.book.sessions.end(request.cookies.get(COOKIE, ""))
        guard.book.note(person.name, "log out", address=address_of(request))
        answer = _leads_to("/")
        answer.delete_cookie(COOKIE, path="/", secure=guard.is_https(request), httponly=True, samesite="lax")
        return answer

    @router.get("/one-time", status_code=303, responses=WRONG)
    def use_link(request: Request, secret: Annotated[str, Query(max_length=128)]) -> Response:
        """The link that the first start prints: opens a session of a local admin, once."""
        session = guard.book.sessions.redeem(secret) if guard.open_reading else None
        if session is None:  # not noted: whoever asks often enough would drive all else out of the log
            return _leads_to(log_in_address(START, failed="link"))
        guard.book.note(LOCAL, "one-time link", address=address_of(request))
        return _enter(guard, request, session, START)

    return router


def _throttled(request: Request, error: AccessDenied, next: str) -> Response:
    if not wants_page(request):
        raise error
    wait = error.headers["Retry-After"]
    return _leads_to(log_in_address(next, failed="throttled", wait=wait))


def _enter(guard: Guard, request: Request, secret: str, next: str) -> Response:
    """With a new session, and without the one before it."""
    if old := request.cookies.get(COOKIE):
        guard.book.sessions.end(old)
    answer = _leads_to(next)
    lasting, secure = int(LONGEST.total_seconds()), guard.is_https(request)
    answer.set_cookie(COOKIE, secret, max_age=lasting, path="/", secure=secure, httponly=True, samesite="lax")
    return answer


def _leads_to(address: str) -> RedirectResponse:
    return RedirectResponse(address, 303, _PRIVATE)
