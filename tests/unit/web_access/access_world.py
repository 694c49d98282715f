"""A server with nothing but access, a clock that tests turn, and people who use it."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path

from fastapi import Depends, FastAPI, Request
from starlette.responses import PlainTextResponse, Response
from starlette.testclient import TestClient

from modeldyno.web import problems
from modeldyno.web.access.answers import DENIED
from modeldyno.web.access.book import Book
from modeldyno.web.access.guard import COOKIE, Guard
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.access.routes import routes

HERE = "http://127.0.0.1:8000"
PASSWORD = "correct horse battery"


@dataclass
class Clock:
    """Stands still until it is turned."""

    moment: datetime = datetime(2026, 11, 15, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def turn(self, **by: float) -> None:
        self.moment += timedelta(**by)


@dataclass
class World:
    """One server and its book."""

    path: Path
    open_reading: bool = True
    public_url: str = "http://bench.example.org"
    clock: Clock = field(default_factory=Clock)

    def __post_init__(self) -> None:
        self.book = Book(self.path, self.clock)
        self.app = app_of(Guard(self.book, self.open_reading, self.public_url))

    def client(self) -> TestClient:
        return TestClient(self.app, base_url=HERE, follow_redirects=False)

    def add(self, name: str, role: Role) -> None:
        self.book.users.add(name, role, PASSWORD)

    def logged_in(self, name: str) -> TestClient:
        """A browser with a session, by the short way."""
        client = self.client()
        client.cookies.set(COOKIE, self.book.sessions.start(name))
        return client

    def bearer(self, user: str, scope: Role) -> dict[str, str]:
        return {"Authorization": f"Bearer {self.book.tokens.make(user, 'test', scope)[1]}"}


def app_of(guard: Guard) -> FastAPI:
    app = FastAPI()
    problems.install(app, _page)
    app.include_router(routes(guard))

    @app.get("/things", responses=DENIED)
    def read(person: Person = Depends(guard.needs(Role.VIEWER))) -> str:
        return person.name

    @app.post("/things", responses=DENIED)
    def run(person: Person = Depends(guard.needs(Role.RUNNER))) -> str:
        return person.name

    @app.delete("/things", responses=DENIED)
    def delete(person: Person = Depends(guard.needs(Role.ADMIN))) -> str:
        return person.name

    return app


def _page(_: Request, status: int, title: str, text: str) -> Response:
    return PlainTextResponse(f"{title}: {text}", status)


def csrf(client: TestClient) -> dict[str, str]:
    """The header that unsafe requests need."""
    return {"X-CSRF-Token": client.get("/api/v1/me").json()["csrf"]}
