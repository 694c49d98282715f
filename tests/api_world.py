"""The API over a small real store, for tests: every status and provenance, ties, and metrics that are missing."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from fastapi import FastAPI, Request
from fastapi.testclient import TestClient
from starlette.responses import PlainTextResponse, Response

from blank_store import blank_store
from modeldyno.core.elsewhere import TestResult
from modeldyno.core.identity import stable_id
from modeldyno.core.types import Case, Device, Host, MetricValue, ModelInfo, Record, Run, Samples, Stop
from modeldyno.store.store import Store
from modeldyno.web import problems
from modeldyno.web.access.roles import Role
from modeldyno.web.api import include
from modeldyno.web.house import House
from modeldyno.web.passage import Passage
from modeldyno.web.settings import Settings

HOST = Host(host_id="h1", hostname="box", system="Linux", cpu="c", logical_cores=2, memory_mb=1024.0, python="3.11")
START = datetime(2026, 1, 1, tzinfo=UTC)
MODELS = ("tiny-bert", "tiny-vit", "someone/Else")
_OUTCOMES = ("ok", "ok", "ok", "failed", "skipped", "invalid")


def make_run(number: int = 0) -> Run:
    moment = START + timedelta(days=number)
    return Run(run_id=stable_id(moment, "run"), started_at=moment, host=HOST, command="dyno run x", version="0")


def make_record(run: Run, number: int, **changes: Any) -> Record:
    moment = START + timedelta(minutes=number // 2)  # two at a time
    model = MODELS[number % 3]
    device = Device(platform="cpu", index=0, name="Chip, 2 cores", memory_mb=1024.0)
    case = {"model": model, "platform": "cpu", "runtime": "torch", "batch": 1 + number % 2, "shape": {"seq": 8}}
    value = 2.0 + (number % 5) / 4
    full = {
        "record_id": stable_id(moment, "record", str(number)),
        "run_id": run.run_id,
        "started_at": moment,
        "case": Case.model_validate(case),
        "status": (status := _OUTCOMES[number % 6]),
        "reason": None if status == "ok" else "no",
        "provenance": "simulated" if number % 7 == 6 else "measured",
        "device": None if status == "skipped" else device,
        "model": ModelInfo(name=model, family="text_generation", weights="random", source="x", fingerprint=model),
        "metrics": {"latency_ms": MetricValue(value=value, low=value - 0.1, high=value + 0.1)} if number % 4 else {},
        "samples": (Samples(host_ms=[value, float("nan")], stop=Stop.INTERVAL, steady=True),),
        **changes,
    }
    return Record.model_validate(full)


def make_series(run: Run, length: int = 24) -> list[Record]:
    """It gets slower in the middle."""
    case = Case(model="tiny-opt", platform="cpu", runtime="torch")
    return [
        make_record(
            run,
            1000 + 2 * number,
            case=case,
            status="ok",
            reason=None,
            provenance="measured",
            device=Device(platform="cpu", index=0, name="Chip, 2 cores", memory_mb=1024.0),
            metrics={"latency_ms": MetricValue(value=(10 if number < length // 2 else 14) + 0.01 * (number % 3))},
        )
        for number in range(length)
    ]


def fill(store: Store, records: int = 40) -> None:
    run, second = make_run(), make_run(1)
    test = TestResult(test_id=stable_id(START, "test"), run_id=run.run_id, name="t", model="m", status="ok")
    many = [make_record(run, number) for number in range(records)]
    store.add([run, second, *many, *make_series(second), test])


@contextmanager
def server(folder: Path, **settings: Any) -> Iterator[tuple[House, FastAPI]]:
    """The routes as the real server has them, where only this machine reaches it."""
    store = blank_store(folder / "dyno.duckdb")
    if not (folder / "filled").exists():
        fill(store)
        (folder / "filled").touch()
    house = House.build(Settings(store=store.path, jobs=False, **settings))
    app = FastAPI(title="modeldyno")
    include(app, house, house.guard)
    problems.install(app, _page)
    app.add_middleware(Passage, figures=house.figures, largest_body=1_000_000, slowest_body_s=10.0, log="text")
    house.shelf.start()
    try:
        yield house, app
    finally:
        house.shelf.stop()


def _page(_: Request, status: int, title: str, text: str) -> Response:
    return PlainTextResponse(f"{title}: {text}", status)


def token_for(house: House, role: Role) -> str:
    name = f"a-{role}"
    if name not in [user.name for user in house.book.users.all()]:
        house.book.users.add(name, role, "a long enough password")
    return str(house.book.tokens.make(name, "t", role)[1])


def client_as(house: House, app: FastAPI, role: Role | None) -> TestClient:
    headers = {"Authorization": f"Bearer {token_for(house, role)}"} if role else {}
    return TestClient(app, headers=headers, raise_server_exceptions=False)
