"""Stands before the routes: says who a request comes from, and refuses who may not."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from urllib.parse import urlsplit

from fastapi import Depends, Request
from fastapi.security import APIKeyCookie, HTTPBearer
from starlette.concurrency import run_in_threadpool
from starlette.exceptions import HTTPException

from modeldyno.web.access.book import Book
from modeldyno.web.access.roles import LOCAL, NOBODY, AccessDenied, Person, Role

COOKIE = "dyno_session"
CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf_token"
SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_FORMS = ("application/x-www-form-urlencoded", "multipart/form-data")
_OWN_SITE = ("same-origin", "none")
_LOG_IN = "log in at /login, or send a token that dyno users token makes as Authorization: Bearer dyno_..."
_BY_TOKEN = Depends(HTTPBearer(auto_error=False, scheme_name="token", description="Made by `dyno users token`."))
_BY_COOKIE = Depends(APIKeyCookie(auto_error=False, name=COOKIE, scheme_name="session", description="Set by /login."))
Dependency = Callable[..., Awaitable[Person]]


class Guard:
    """One for each server; `open_reading` is for addresses that only this machine reaches."""

    def __init__(self, book: Book, open_reading: bool, public_url: str | None = None) -> None:
        self.book = book
        self.open_reading = open_reading
        public = urlsplit(public_url or "")
        self._public, self._public_https = public.netloc.lower(), public.scheme == "https"
        self._dependencies: dict[tuple[Role, bool], Dependency] = {}

    def needs(self, role: Role) -> Dependency:
        """For Depends: a person of at least this role; what viewers may read, anybody may where reading is open."""
        return self._dependency(role, self.open_reading and role is Role.VIEWER)

    def needs_login(self, role: Role = Role.VIEWER) -> Dependency:
        """The same, and nobody is anonymous."""
        return self._dependency(role, False)

    def identify(self, request: Request) -> Person | None:
        """None where nobody has logged in; a token that is wrong is refused at once."""
        scheme, _, token = request.headers.get("authorization", "").partition(" ")
        if scheme.lower() == "bearer":
            return self._by_token(token.strip())
        return self._by_cookie(request.cookies.get(COOKIE))

    async def admit(self, request: Request, role: Role, anonymous: bool = False) -> Person:
        """What the dependencies do."""
        unsafe = request.method not in SAFE_METHODS
        if unsafe:
            self.refuse_foreign(request)
        person = await run_in_threadpool(self.identify, request)
        if person is None:
            if anonymous and not unsafe:
                return NOBODY
            raise unknown_person("This needs a log-in")
        if unsafe and person.csrf is not None:
            await _check_csrf(request, person.csrf)
        if person.role < role:
            raise AccessDenied(
                403, f"This needs the role {role}, and {person.name} comes as {person.role}; ask an admin."
            )
        return person

    def refuse_foreign(self, request: Request) -> None:
        """A browser says from which site a request comes: others must not write here in somebody's name."""
        origin = request.headers.get("origin")
        if origin is None:
            foreign = request.headers.get("sec-fetch-site", "none").lower() not in _OWN_SITE
        else:
            own = {request.headers.get("host", "").lower(), self._public} - {""}
            foreign = urlsplit_host(origin) not in own
        if foreign:
            raise AccessDenied(403, "This request comes from another site; use the pages of this server.")

    def is_https(self, request: Request) -> bool:
        """Whether browsers come by HTTPS; a proxy's headers are not asked, anybody can write those."""
        return self._public_https or request.url.scheme == "https"

    def _by_token(self, text: str) -> Person:
        bearer = self.book.tokens.bearer(text)
        if bearer is None:
            raise unknown_person("This token is wrong, or has ended")
        return Person(bearer.user, bearer.role, "token")

    def _by_cookie(self, secret: str | None) -> Person | None:
        session = self.book.sessions.find(secret) if secret else None
        if session is None:
            return None
        if session.user != LOCAL:
            return Person(session.user, session.role, "cookie", session.csrf)
        # The link was for this machine alone; the server may since listen to others.
        return Person(LOCAL, session.role, "one-time", session.csrf) if self.open_reading else None

    def _dependency(self, role: Role, anonymous: bool) -> Dependency:
        """The same function for the same need, so that FastAPI asks once for each request."""
        key = (role, anonymous)
        if key not in self._dependencies:
            self._dependencies[key] = self._open_to_all() if anonymous else self._closed(role)
        return self._dependencies[key]

    def _open_to_all(self) -> Dependency:
        """Declares no scheme: OpenAPI would say that one is needed."""

        async def anybody(request: Request) -> Person:
            return await self.admit(request, Role.VIEWER, anonymous=True)

        return anybody

    def _closed(self, role: Role) -> Dependency:
        async def person(request: Request, _token: object = _BY_TOKEN, _cookie: object = _BY_COOKIE) -> Person:
            return await self.admit(request, role)

        return person


def address_of(request: Request) -> str:
    """Where a request comes from, for the throttle and the audit log."""
    return request.client.host if request.client else "unknown"


def unknown_person(what: str) -> AccessDenied:
    return AccessDenied(401, f"{what}; {_LOG_IN}.", {"WWW-Authenticate": "Bearer"})


def urlsplit_host(origin: str) -> str | None:
    """Host and port; None for `null` and for what is no origin."""
    try:
        return urlsplit(origin).netloc.lower() or None
    except ValueError:
        return None


async def _check_csrf(request: Request, expected: str) -> None:
    given = request.headers.get(CSRF_HEADER)
    if given is None and request.headers.get("content-type", "").lower().startswith(_FORMS):
        given = await _form_field(request)
    if given is None or not hmac.compare_digest(given.encode(errors="replace"), expected.encode()):
        raise AccessDenied(403, f"The CSRF token is missing or wrong; send csrf of /api/v1/me as {CSRF_HEADER}.")


async def _form_field(request: Request) -> str | None:
    """Files are read by FastAPI, where the route takes any, and not here, where nobody would close them."""
    try:
        value = (await request.form(max_files=0)).get(CSRF_FIELD)
    except HTTPException:  # no form that can be read
        return None
    return value if isinstance(value, str) else None
