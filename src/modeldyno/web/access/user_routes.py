"""What admins see and do: users and the audit log."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, HTTPException, Path, Query, Request

from modeldyno.core.errors import InputError, UnknownName
from modeldyno.web.access.answers import DENIED, UNREADABLE, WRONG, NewUser, ShownNote, ShownUser, refusals
from modeldyno.web.access.guard import Guard, address_of
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.access.users import NAME_PATTERN

UserName = Annotated[str, Path(pattern=NAME_PATTERN)]


def user_routes(guard: Guard) -> APIRouter:
    """Under /api/v1."""
    router, book = APIRouter(prefix="/api/v1"), guard.book
    admin = guard.needs(Role.ADMIN)

    @router.get("/users", responses=DENIED, dependencies=[Depends(admin)])
    def list_users() -> list[ShownUser]:
        """Who can log in."""
        return [ShownUser.model_validate(user) for user in book.users.all()]

    answers = {**DENIED, **UNREADABLE, **WRONG, **refusals(s409="The name is taken, or the password is the name.")}

    @router.post("/users", status_code=201, responses=answers)
    def add_user(request: Request, wanted: NewUser, person: Person = Depends(admin)) -> ShownUser:
        """One more who can log in."""
        try:
            user = book.users.add(wanted.name, wanted.role, wanted.password.get_secret_value())
        except InputError as error:
            raise HTTPException(409, str(error)) from None
        book.note(person.name, "add user", f"{user.name} {user.role}", address=address_of(request))
        return ShownUser.model_validate(user)

    gone = refusals(s404="There is no such user.", s409="You cannot remove yourself.")

    @router.delete("/users/{name}", status_code=204, responses={**DENIED, **WRONG, **gone})
    def remove_user(request: Request, name: UserName, person: Person = Depends(admin)) -> None:
        """The user with all sessions and tokens."""
        if name == person.name:
            raise HTTPException(409, "You cannot remove yourself; ask another admin, or use dyno users remove.")
        try:
            book.users.remove(name)
        except UnknownName as error:
            raise HTTPException(404, str(error)) from None
        book.note(person.name, "remove user", name, address=address_of(request))

    @router.get("/audit", responses={**DENIED, **WRONG}, dependencies=[Depends(admin)])
    def read_audit(limit: Annotated[int, Query(ge=1, le=1000)] = 100) -> list[ShownNote]:
        """Who did what, the newest first."""
        return [ShownNote.model_validate(note) for note in book.audit.newest(limit)]

    return router
