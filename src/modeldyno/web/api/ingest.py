"""POST /api/v1/records: results from another machine, in the lines that the spool has; durable before the answer."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable
from typing import Any

from fastapi import APIRouter, Depends, Request
from starlette.concurrency import run_in_threadpool
from starlette.responses import Response

from modeldyno.core.elsewhere import Import, TestResult
from modeldyno.core.errors import InputError, JobError
from modeldyno.core.identity import new_id
from modeldyno.core.types import Record, Run
from modeldyno.store.count import count_records
from modeldyno.store.query import Filter
from modeldyno.store.spool import Item, decode, deposit
from modeldyno.web.access.guard import Guard, address_of
from modeldyno.web.access.roles import Person, Role
from modeldyno.web.answers import JSON, dumped
from modeldyno.web.api._answering import resource
from modeldyno.web.api._services import Taken
from modeldyno.web.house import House
from modeldyno.web.problems import documented

NDJSON = "application/x-ndjson"
_ID = re.compile(r"[0-9a-z]{26}")
_ABOUT = 'Lines as `dyno run --output` writes them, {"kind": "run", "data": {...}}: a run, then its records.'
_BODY = {"required": True, "description": _ABOUT, "content": {NDJSON: {"schema": {"type": "string"}}}}


class BadLine(InputError):
    """A line that cannot be taken; none is."""

    status = 422


def routes(house: House, guard: Guard) -> APIRouter:
    router = resource(guard, Role.RUNNER)

    @router.post(
        "/api/v1/records", responses={200: {"model": Taken}, **documented(503)}, openapi_extra={"requestBody": _BODY}
    )
    async def ingest(request: Request, person: Person = Depends(guard.needs(Role.RUNNER))) -> Response:
        """All lines or none; sending the same again changes nothing."""
        content = await request.body()
        taken = await run_in_threadpool(take, house, content)
        where = address_of(request)
        await run_in_threadpool(guard.book.note, person.name, "ingest", f"{taken['new']} records", "ok", where)
        return Response(dumped(taken), media_type=JSON)

    return router


def take(house: House, content: bytes) -> dict[str, int]:
    """Checks all, keeps all, and says what was new."""
    items = _items(content)
    _check_parents(house, items)
    ids = tuple(item.record_id for item in items if isinstance(item, Record))
    known = _count(house, ids)
    try:
        deposit(house.store.spool / f"{new_id()}.ndjson", items)
    except OSError as error:
        raise JobError(f"The results cannot be kept: {error.strerror}; free space on the server.") from None
    house.store.fold()
    if _count(house, ids) < len(set(ids)):
        raise BadLine("Some records do not fit into the store; they are kept beside it, and its log says why.")
    kinds = Counter(type(item) for item in items)
    others = kinds[Import] + kinds[TestResult]
    return {"records": len(set(ids)), "new": len(set(ids)) - known, "known": known} | {
        "runs": kinds[Run],
        "others": others,
    }


def _items(content: bytes) -> list[Item]:
    """What stands in the lines; an empty one is passed over."""
    items = []
    for number, line in enumerate(content.splitlines(), 1):
        if line.strip():
            items.append(_item(number, line))
    if not items:
        raise BadLine("There is no line in the body; send runs and records as dyno run --output writes them.")
    return items


def _item(number: int, line: bytes) -> Item:
    try:
        item = decode(line)
    except ValueError as error:
        raise BadLine(f"Line {number}: {error}; nothing was kept.") from None
    for name in ("run_id", "record_id", "test_id"):
        if not _ID.fullmatch(getattr(item, name, None) or "0" * 26):
            raise BadLine(f"Line {number}: {name} is no id of 26 letters and digits; nothing was kept.")
    return item


def _check_parents(house: House, items: Iterable[Item]) -> None:
    """A record needs its run and a run its import, in the lines or in the store."""
    items = list(items)
    runs = {item.run_id for item in items if isinstance(item, Run)}
    imports = {item.import_id for item in items if isinstance(item, Import)}
    lost_runs = {item.run_id for item in items if isinstance(item, Record | TestResult)} - runs
    lost_runs = {run_id for run_id in lost_runs if not house.now.runs(1, run_id=run_id)}
    lost_imports = {item.import_id for item in items if isinstance(item, Run) and item.import_id} - imports
    _check(lost_runs, "run", lambda: {run.run_id for run in house.store.runs()})
    _check(lost_imports, "import", lambda: {each.import_id for each in house.store.imports()})


def _check(lost: set[Any], kind: str, stored: Callable[[], set[str]]) -> None:
    if lost and (missing := sorted(lost - stored())):
        raise BadLine(f"The {kind} {missing[0]} is not here; send its line as well, nothing was kept.")


def _count(house: House, ids: tuple[str, ...]) -> int:
    return sum(count.records for count in count_records(house.store, Filter(record_id=ids))) if ids else 0


MEMBER = routes
