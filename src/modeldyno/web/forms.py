"""What the forms of the dashboard do: each checks who sends it, does one thing, and leads to a page."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import RedirectResponse, Response

from modeldyno.core.errors import InputError
from modeldyno.web.access.guard import address_of
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.access.routes import local_path
from modeldyno.web.answers import Body
from modeldyno.web.api.acknowledgements import Sentence
from modeldyno.web.dashboard import Pages
from modeldyno.web.house import House
from modeldyno.web.jobs.types import Job
from modeldyno.web.ordering import order_of
from modeldyno.web.pages.generate import ALL, generated
from modeldyno.web.sheet import Ask, NotThere


def routes(house: House, pages: Pages) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    _add_login(router, house, pages)
    _add_run(router, house)
    _add_job_actions(router, house)
    _add_words(router, house)
    _add_file(router, house)
    return router


def _leads_to(path: str) -> Response:
    return RedirectResponse(path, 303)


def _add_login(router: APIRouter, house: House, pages: Pages) -> None:
    @router.get("/login")
    def login(request: Request, next: str = "/dashboard", failed: str = "") -> Response:
        users = bool(house.book.users.all())
        text = pages.text("login", request, None, "Log in", next=local_path(next), failed=failed, users=users)
        return Body.of(text.encode(), "text/html; charset=utf-8").reply(request)


def _add_run(router: APIRouter, house: House) -> None:
    @router.post("/dashboard/run")
    async def start(request: Request, person: Person = Depends(house.guard.needs(Role.RUNNER))) -> Response:
        form = await request.form()
        given = {name: [str(value) for value in form.getlist(name)] for name in form}
        if not given.get("model"):
            raise InputError("Choose a model first; the list on the page Run has them all.")
        job: Job = await run_in_threadpool(lambda: house.queue.submit(order_of(given), person.name))
        await run_in_threadpool(house.book.note, person.name, "submit job", job.job_id, "ok", address_of(request))
        return _leads_to(f"/dashboard/jobs/{job.job_id}")


def _add_job_actions(router: APIRouter, house: House) -> None:
    actions: dict[str, Callable[[str, str], Job]] = {
        "cancel": house.queue.cancel,
        "resume": house.queue.resume,
        "rerun": house.queue.rerun,
    }

    @router.post("/dashboard/jobs/{job_id}/{action}")
    def act(
        request: Request, job_id: str, action: str, person: Person = Depends(house.guard.needs(Role.RUNNER))
    ) -> Response:
        if action not in actions:
            raise InputError(f"A job cannot be told to {action[:40]}; known: {', '.join(actions)}.")
        job = actions[action](job_id, person.name)
        house.book.note(person.name, f"{action} job", job.job_id, address=address_of(request))
        return _leads_to(f"/dashboard/jobs/{job.job_id}")


def _add_words(router: APIRouter, house: House) -> None:
    @router.post("/dashboard/acknowledge")
    def acknowledge(
        request: Request,
        series_id: Annotated[str, Form(max_length=64)],
        record_id: Annotated[str, Form(max_length=64)],
        text: Annotated[Sentence, Form()],
        person: Person = Depends(house.guard.needs(Role.RUNNER)),
    ) -> Response:
        if not house.now.holds(series_id, record_id):
            raise NotThere("There is no such record in that series; /dashboard/trends has the changes.")
        house.acknowledgements.add(series_id, record_id, text, person.name)
        house.book.note(person.name, "acknowledge", record_id, address=address_of(request))
        return _leads_to(f"/dashboard/trends/{series_id}")

    @router.post("/dashboard/alerts/{alert_id}/seen")
    def seen(request: Request, alert_id: str, person: Person = Depends(house.guard.needs(Role.RUNNER))) -> Response:
        house.queue.acknowledge(alert_id, person.name)
        house.alerted += 1
        house.book.note(person.name, "acknowledge", alert_id, "ok", address_of(request))
        return _leads_to("/dashboard/jobs")


def _add_file(router: APIRouter, house: House) -> None:
    @router.get("/dashboard/generate/file")
    def file(
        request: Request,
        kind: Annotated[str, Query(max_length=20)] = "test",
        person: Person = Depends(house.guard.needs(Role.VIEWER)),
    ) -> Response:
        if kind not in ALL:
            raise InputError(f"There is no kind {kind}; known: {', '.join(ALL)}.")
        query = {key: request.query_params.getlist(key) for key in request.query_params}
        made = generated(Ask(house, house.now, query, {}, person), kind)
        return Body.of(made.text.encode(), "text/plain; charset=utf-8", made.name).reply(request)
