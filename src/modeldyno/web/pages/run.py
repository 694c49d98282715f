"""Run: choose models, platforms and settings, see what is possible here and how long it takes, and start it."""

from __future__ import annotations

from modeldyno.core.errors import InputError
from modeldyno.core.types import Precision
from modeldyno.models import catalogue
from modeldyno.web.jobs.estimate import estimate
from modeldyno.web.jobs.offers import Offer, offers
from modeldyno.web.jobs.order import cases_of
from modeldyno.web.ordering import order_of
from modeldyno.web.sheet import Ask, Page, Sheet
from modeldyno.workloads import WORKLOADS

EFFORTS = {"quick": "one process, wider intervals", "default": "several processes", "publish": "five processes, long"}


def make(ask: Ask) -> Sheet:
    model = ask.one("model")
    workload = ask.choice("workload", WORKLOADS.names(), "inference")
    found, problem = _offers(model if len(ask.many("model")) == 1 else None, workload)
    here = [device.address for offer in found for device in offer.devices]
    on = ask.many("on") or here[:1]
    told, seconds, cases = None, None, 0
    if model and not problem:
        try:
            order = order_of({**ask.query, "on": on})
            cases = len(cases_of(order))
            seconds = estimate(order, ask.snapshot.store)
        except InputError as error:
            told = str(error)
    return Sheet(
        "Run",
        {
            "models": [{"name": entry.name, "kind": entry.family} for entry in catalogue()],
            "picked": ask.many("model"),
            "offers": found,
            "on": on,
            "problem": problem or told,
            "workloads": WORKLOADS.names(),
            "workload": workload,
            "precisions": [one.value for one in Precision],
            "efforts": EFFORTS,
            "cases": cases,
            "seconds": seconds,
            "may": ask.person is not None and ask.person.csrf is not None,
        },
    )


def _offers(model: str | None, workload: str) -> tuple[tuple[Offer, ...], str | None]:
    try:
        return offers(model or None, workload), None
    except InputError as error:
        return offers(None, workload), str(error)


MEMBER = Page("/dashboard/run", make, nav="Run", place=8)
