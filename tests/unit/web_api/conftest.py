"""One server for all tests that only read; one of its own for each that writes."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api_world import client_as, server
from modeldyno.web.access.roles import Role


@pytest.fixture(scope="session")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The files of a filled store with one user of each role: to make them takes its time, so they are copied."""
    folder = tmp_path_factory.mktemp("api")
    with server(folder) as (house, app):
        for role in Role:
            client_as(house, app, role)
    return folder


@pytest.fixture(scope="session")
def reading(prepared: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """Nobody in particular, asking."""
    folder = Path(shutil.copytree(prepared, tmp_path_factory.mktemp("reading") / "api"))
    with server(folder) as (house, app):
        yield client_as(house, app, None)


@pytest.fixture
def world(prepared: Path, tmp_path: Path) -> Iterator[tuple[Any, Any]]:
    with server(Path(shutil.copytree(prepared, tmp_path / "api"))) as made:
        yield made


@pytest.fixture
def runner(world: tuple[Any, Any]) -> TestClient:
    return client_as(*world, Role.RUNNER)
