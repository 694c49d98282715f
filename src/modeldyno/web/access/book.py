"""All that the server knows of people, in one place."""

from __future__ import annotations

from pathlib import Path

from modeldyno.web.access.audit import Audit
from modeldyno.web.access.roles import AccessDenied
from modeldyno.web.access.server_file import ENDING, Now, ServerFile, utc_now
from modeldyno.web.access.sessions import Sessions
from modeldyno.web.access.throttle import Throttle
from modeldyno.web.access.tokens import Tokens
from modeldyno.web.access.users import Users


class Book:
    """Users, tokens, sessions, attempts and the audit log of one store. Building one touches nothing."""

    def __init__(self, path: Path, now: Now = utc_now) -> None:
        self.path = path
        file = ServerFile(path, now)
        self.users = Users(file)
        self.tokens = Tokens(file)
        self.sessions = Sessions(file)
        self.throttle = Throttle(file)
        self.audit = Audit(file)

    @classmethod
    def beside(cls, store: Path, now: Now = utc_now) -> Book:
        """The book of the store at this path."""
        return cls(store.with_name(store.name + ENDING), now)

    def note(self, who: str, action: str, target: str = "", outcome: str = "ok", address: str = "") -> None:
        """One more line of the audit log."""
        self.audit.note(who, action, target, outcome, address)

    def one_time_link_secret(self) -> str:
        """Opens a session of a local admin, once, within a quarter of an hour."""
        return self.sessions.one_time_secret()

    def log_in(self, name: str, password: str, address: str) -> str | None:
        """The secret of a new session; None where name or password is wrong, AccessDenied 429 after many such."""
        if wait := self.throttle.admit(name, address):
            raise too_many(wait)
        if not self.users.check(name, password):
            self.note(name, "log in", outcome="failed", address=address)
            return None
        self.throttle.clear(name, address)
        self.note(name, "log in", address=address)
        return self.sessions.start(name)


def too_many(wait_s: float) -> AccessDenied:
    seconds = int(wait_s) + 1
    return AccessDenied(429, f"Too many log-ins failed; try again in {seconds} seconds.", {"Retry-After": str(seconds)})
