"""A world for each test."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from access_world import World

from modeldyno.web.access.roles import Role


@pytest.fixture(scope="session")
def peopled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A file with one user of each role: to hash passwords takes its time, so they are copied."""
    made = World(tmp_path_factory.mktemp("access") / "people.sqlite")
    for role in Role:
        made.add(f"{role}-1", role)
    return made.path


@pytest.fixture
def world(tmp_path: Path, peopled: Path) -> World:
    """Open to read."""
    return World(Path(shutil.copy(peopled, tmp_path / "dyno.duckdb.server.sqlite")))


@pytest.fixture
def closed(tmp_path: Path, peopled: Path) -> World:
    """As on an address that others reach."""
    return World(Path(shutil.copy(peopled, tmp_path / "closed.server.sqlite")), open_reading=False)
