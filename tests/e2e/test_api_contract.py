"""The server keeps to its own OpenAPI document, whatever it is asked."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from api_world import fill, token_for
from blank_store import blank_store
from modeldyno.web.access.roles import Role
from modeldyno.web.app import create_app
from modeldyno.web.settings import Settings

CHECKS = [not_a_server_error, status_code_conformance, response_schema_conformance, content_type_conformance]
DOCUMENT = "/api/v1/openapi.json"
EXAMPLES = 20


@schemathesis.serializer("application/x-ndjson")
def lines(_: Any, value: Any) -> bytes:
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@pytest.fixture(scope="module")
def house_and_app(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, Any]]:
    store = blank_store(tmp_path_factory.mktemp("contract") / "dyno.duckdb")
    fill(store)
    app = create_app(Settings(store=store.path, jobs=False))
    app.state.house.shelf.start()
    yield app.state.house, app
    app.state.house.shelf.stop()


def living_on(app: Any) -> Any:
    """The app under its own name, which does not start and end with each question."""

    async def answer(scope: Any, receive: Any, send: Any) -> None:
        if scope["type"] != "lifespan":
            others = [(name, value) for name, value in scope["headers"] if name != b"host"]
            await app({**scope, "headers": [(b"host", b"localhost"), *others]}, receive, send)
            return
        for step in ("startup", "shutdown"):
            await receive()
            await send({"type": f"lifespan.{step}.complete"})

    return answer


@pytest.fixture(scope="module")
def api(house_and_app: tuple[Any, Any]) -> Any:
    """Without what never ends, and what belongs to logging in."""
    found = schemathesis.openapi.from_asgi(DOCUMENT, living_on(house_and_app[1]))
    ours = r"^/(api/(?!v1/(me|users|tokens|audit))|healthz|metrics)"
    return found.exclude(path_regex=r"/events$").include(path_regex=ours)


@pytest.fixture(scope="module")
def headers(house_and_app: tuple[Any, Any]) -> dict[str, str]:
    return {"Authorization": f"Bearer {token_for(house_and_app[0], Role.ADMIN)}"}


def test_every_answer_is_as_described(api: Any, headers: dict[str, str]) -> None:
    operations = [found.ok() for found in api.get_all_operations()]
    assert len(operations) > 30
    wrong = {}
    for operation in operations:
        try:
            ask(operation, headers)
        except Exception as error:  # noqa: BLE001 - all of them are told together
            wrong[operation.label] = str(error)[:1500]
    assert not wrong, "\n".join(f"{name}: {text}" for name, text in wrong.items())


def ask(operation: Any, headers: dict[str, str]) -> None:
    """Questions that fit the description, and some that do not."""
    right, off = (operation.as_strategy(generation_mode=mode) for mode in GenerationMode)

    @given(case=st.one_of(right, off))
    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    def answers(case: Any) -> None:
        case.validate_response(case.call(headers=headers), checks=CHECKS)

    answers()
