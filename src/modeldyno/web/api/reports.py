"""/api/v1/reports: the kinds of reports, and a report made now."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.core.errors import UnknownName
from modeldyno.core.spoken import FILTERS, now
from modeldyno.reports.files import needing_packages
from modeldyno.reports.formats import FORMATS
from modeldyno.reports.order import Order, compose
from modeldyno.reports.template import Template, kinds, read_template
from modeldyno.store.snapshot import Snapshot
from modeldyno.web.access.guard import Guard
from modeldyno.web.answers import HTML, JSON, Body
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import Chosen
from modeldyno.web.api._services import ReportKind
from modeldyno.web.api._shapes import All
from modeldyno.web.choosing import LONGEST
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

_MEDIA = {".html": HTML, ".json": JSON, ".pdf": "application/pdf", ".zip": "application/zip", ".md": "text/markdown"}
_LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The first moment that a zip can tell: the same files give the same bytes."""
Format = StrEnum("Format", {name.upper(): name for name in FORMATS.names()})  # type: ignore[misc]
_CONTENT: dict[str, Any] = {name.partition(";")[0]: {} for name in _MEDIA.values()}


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/reports", responses={200: {"model": All[ReportKind]}})
    async def list_kinds(request: Request) -> Response:
        """What reports there are, and what they want to be about."""
        return await answers.short(request, lambda _: {"items": [_kind(read_template(path)) for path in _known()]})

    @router.get(
        "/api/v1/reports/{kind}",
        response_class=Response,
        responses={200: {"content": _CONTENT, "description": "The report."}, **documented(404, 503)},
    )
    async def report(
        request: Request,
        kind: str,
        chosen: Chosen,  # noqa: ARG001 - checked before the words are used
        format: Annotated[Format, Query(description="Several files come as a zip.")] = Format("html"),
        subject: Annotated[
            str | None, Query(max_length=LONGEST, description="The model or the run, where the kind wants one.")
        ] = None,
    ) -> Response:
        """A report of the chosen results."""
        order = Order(kind=_checked(kind), subject=subject or None, words=_words(request), formats=(format.value,))
        return await answers.long(request, lambda snapshot: _made(snapshot, order, format.value))

    return router


def _known() -> list[Path]:
    return [path for _, path in sorted(kinds(None).items())]


def _kind(template: Template) -> dict[str, Any]:
    return {"kind": template.name, "title": template.title, "about": template.about, "subject": template.subject}


def _checked(kind: str) -> str:
    """Only what is shipped: a path would be read from the server's disk."""
    if kind not in kinds(None):
        raise NotThere(str(UnknownName("kind of report", kind[:LONGEST], kinds(None))))
    return kind


def _words(request: Request) -> dict[str, str]:
    given = {name: [text for text in request.query_params.getlist(name) if text] for name in FILTERS}
    return {name: ",".join(texts) for name, texts in given.items() if texts}


def _made(snapshot: Snapshot, order: Order, format: str) -> Body:
    with needing_packages():
        document = compose(order, snapshot.store, now(), lambda *_: None)
        files = FORMATS.get(format).render(document, order.kind)
    name, content = next(iter(files.items()))
    if len(files) > 1:
        name, content = f"{order.kind}.zip", _zipped(files)
    return Body.of(content, _MEDIA[Path(name).suffix], name)


def _zipped(files: Mapping[str, bytes]) -> bytes:
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(zipfile.ZipInfo(name, _LONG_AGO), content, zipfile.ZIP_DEFLATED)
    return packed.getvalue()


MEMBER = routes
