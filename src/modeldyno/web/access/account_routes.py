"""What people see and do about themselves: who they are, and their tokens."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Request, Response

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.web.access.answers import DENIED, UNREADABLE, WRONG, MadeToken, Me, NewToken, ShownToken, refusals
from modeldyno.web.access.guard import Guard, address_of
from modeldyno.web.access.roles import LOCAL, AccessDenied, Person, Role
from modeldyno.web.access.tokens import ID_PATTERN

TokenId = Annotated[str, Path(pattern=ID_PATTERN, max_length=16)]


def account_routes(guard: Guard) -> APIRouter:
    """Under /api/v1."""
    router, book = APIRouter(prefix="/api/v1"), guard.book

    @router.get("/me", responses=DENIED)
    def me(response: Response, person: Person = Depends(guard.needs(Role.VIEWER))) -> Me:
        """Who this request comes from, and the CSRF token of the session."""
        response.headers["Cache-Control"] = "no-store"
        return Me.model_validate(person)

    @router.get("/tokens", responses=DENIED)
    def list_tokens(person: Person = Depends(guard.needs_login())) -> list[ShownToken]:
        """Your tokens, without their secrets."""
        return [ShownToken.model_validate(token) for token in book.tokens.of(person.name)]

    answers = {**DENIED, **UNREADABLE, **WRONG, **refusals(s409="The token cannot be made; the sentence says why.")}

    @router.post("/tokens", status_code=201, responses=answers)
    def make_token(
        request: Request, response: Response, wanted: NewToken, person: Person = Depends(guard.needs_login())
    ) -> MadeToken:
        """A token of yours; only with a session. Its text is shown this once."""
        _check_maker(person, wanted.scope)
        try:
            token, text = book.tokens.make(person.name, wanted.name, wanted.scope, timedelta(days=wanted.expires_days))
        except InputError as error:
            raise HTTPException(409, str(error)) from None
        book.note(person.name, "make token", f"{token.token_id} {token.scope}", address=address_of(request))
        response.headers["Cache-Control"] = "no-store"
        return MadeToken(**ShownToken.model_validate(token).model_dump(), token=text)

    missing = refusals(s404="You have no such token.")

    @router.delete("/tokens/{token_id}", status_code=204, responses={**DENIED, **WRONG, **missing})
    def remove_token(request: Request, token_id: TokenId, person: Person = Depends(guard.needs_login())) -> None:
        """A token of yours stops working; only with a session."""
        _check_session(person)
        try:
            book.tokens.remove(person.name, token_id)
        except UnknownName:
            raise HTTPException(404, "You have no such token; GET /api/v1/tokens lists them.") from None
        book.note(person.name, "remove token", token_id, address=address_of(request))

    return router


def _check_session(person: Person) -> None:
    """Else a token that leaked could make itself last for ever, or end the others."""
    if person.how == "token":
        raise AccessDenied(403, "A token cannot make or remove tokens; log in at /login, or use dyno users token.")


def _check_maker(person: Person, scope: Role) -> None:
    _check_session(person)
    if person.name == LOCAL:
        raise AccessDenied(403, "Tokens belong to users; add one first: dyno users add NAME --role admin")
    if scope > person.role:
        raise AccessDenied(403, f"{person.name} is a {person.role}, and a token cannot do more; choose a lower scope.")
