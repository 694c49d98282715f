"""/api/v1/generate: a test, a suite or an inference script for a model on a platform."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.advise.generate import KINDS, Wanted, generate
from modeldyno.web.access.guard import Guard
from modeldyno.web.answers import Body
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import ModelName, Sizes, check_named, sizes_of
from modeldyno.web.api._services import Made
from modeldyno.web.house import House

Kind = StrEnum("Kind", {name.upper(): name for name in KINDS})  # type: ignore[misc]
_Word = Annotated[str, Query(pattern=r"^[A-Za-z0-9][A-Za-z0-9_:.-]*$", max_length=60)]
_TEXT = "text/plain; charset=utf-8"


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/generate/{kind}", responses={200: {"model": Made, "content": {"text/plain": {}}}})
    async def make_file(
        request: Request,
        kind: Kind,
        model: ModelName,
        on: Annotated[_Word, Query(description="A platform, or a device of it: cuda:1.")],
        workload: _Word = "inference",
        runtime: _Word | None = None,
        precision: _Word = "fp32",
        batch: Annotated[int, Query(ge=1, le=65536)] = 1,
        shape: Sizes = None,
        download: Annotated[bool, Query(description="The file alone, to save it.")] = False,
    ) -> Response:
        """The text of the file; nothing is written and nothing measured."""
        wanted = Wanted(check_named(model), on, workload, runtime, precision, batch, sizes_of(shape))

        def make(_: object) -> Any:
            made = generate(kind.value, wanted, house.store)
            if download:
                return Body.of(made.text.encode(), _TEXT, made.name)
            return {"kind": made.kind, "name": made.name, "text": made.text, "notes": list(made.notes)}

        return await answers.long(request, make)

    return router


MEMBER = routes
