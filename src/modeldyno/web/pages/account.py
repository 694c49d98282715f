"""Account: who one is, and tokens for programs."""

from __future__ import annotations

from modeldyno.web.access.roles import Role
from modeldyno.web.sheet import Ask, Page, Sheet


def make(ask: Ask) -> Sheet:
    person = ask.person
    known = person is not None and person.csrf is not None
    tokens = ask.house.book.tokens.of(person.name) if person and known else []
    return Sheet(
        "Account",
        {"known": known, "tokens": tokens, "roles": [role.value for role in Role if person and role <= person.role]},
    )


MEMBER = Page("/dashboard/account", make, live=True)
