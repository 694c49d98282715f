"""/api/v1/comparisons: what is faster, by how much, and how sure that is."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from modeldyno.analysis import documents
from modeldyno.analysis.comparable import By
from modeldyno.analysis.compare import Pairing, compare, default_metric, match_runs, pair_up
from modeldyno.core.errors import InputError
from modeldyno.core.metrics import metric
from modeldyno.core.spoken import comma_list
from modeldyno.core.types import Record, Status
from modeldyno.store.find import hosts_of_runs
from modeldyno.store.query import Filter
from modeldyno.store.snapshot import Snapshot
from modeldyno.store.store import Store
from modeldyno.web.access.guard import Guard
from modeldyno.web.api._answering import Answers, resource
from modeldyno.web.api._asking import Chosen
from modeldyno.web.api._shapes import Comparisons
from modeldyno.web.choosing import LONGEST
from modeldyno.web.house import House
from modeldyno.web.problems import documented
from modeldyno.web.sheet import NotThere

MOST_SERIES = 5000
_Id = Annotated[str | None, Query(max_length=64, description="A record or a run; both or neither.")]
_BY = "What to compare: the question. Not with `old` and `new`."


def routes(house: House, guard: Guard) -> APIRouter:
    router, answers = resource(guard), Answers(house)

    @router.get("/api/v1/comparisons", responses={200: {"model": Comparisons}, **documented(404)})
    async def comparisons(
        request: Request,
        chosen: Chosen,
        by: Annotated[By | None, Query(description=_BY)] = None,
        old: _Id = None,
        new: _Id = None,
        metric: Annotated[str | None, Query(max_length=LONGEST, description="Metrics, by commas.")] = None,
        baseline: Annotated[str | None, Query(max_length=LONGEST, description="What all others are held to.")] = None,
        margin: Annotated[float | None, Query(ge=0, lt=10, description="The smallest share that counts.")] = None,
    ) -> Response:
        """Ratios with intervals and a verdict; either `by` a question, or two records or runs."""
        if bool(old) != bool(new) or bool(old) == bool(by):
            raise InputError("Say what to compare: either by=platform (or runtime, ...), or old=ID and new=ID.")
        question = by or By.RUN
        names = _metrics(metric) or [default_metric(question)]

        def make(snapshot: Snapshot) -> dict[str, Any]:
            more = False
            if old and new:
                pairing = _two(snapshot, old, new, chosen)
            else:
                pairing, more = _by(snapshot.store, question, names[0], baseline, chosen)
            margins = {} if margin is None else dict.fromkeys(names, margin)
            found = compare(pairing.pairs, question, names, margins, hosts_of_runs(snapshot.store))
            return documents.comparisons(found, pairing, question) | {"left_out": more}

        return await answers.long(request, make)

    return router


def _metrics(text: str | None) -> list[str]:
    return [metric(name).name for name in comma_list(text)]


def _by(store: Store, by: By, name: str, baseline: str | None, chosen: Filter) -> tuple[Pairing, bool]:
    wanted = chosen if chosen.status else replace(chosen, status=(Status.OK,))
    records = store.newest_records(wanted, by is By.RUN, MOST_SERIES + 1)
    return pair_up(records[-MOST_SERIES:], by, name, baseline), len(records) > MOST_SERIES


def _two(snapshot: Snapshot, old: str, new: str, chosen: Filter) -> Pairing:
    """Two runs case by case, or two records."""
    if all(snapshot.runs(1, run_id=name) for name in (old, new)):
        return match_runs(*(snapshot.store.records(replace(chosen, run_id=(name,))) for name in (old, new)))
    return Pairing(((_record(snapshot.store, old), _record(snapshot.store, new)),), ())


def _record(store: Store, name: str) -> Record:
    found = store.records(Filter(record_id=(name,)))
    if not found:
        raise NotThere(f"There is no run and no record {name}; /api/v1/runs and /api/v1/records list them.")
    return found[0]


MEMBER = routes
