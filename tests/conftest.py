"""Shared by all tests: a cache and a store of their own, and the plug-ins of tests/plugins on the path."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

PLUGINS = Path(__file__).parent / "plugins"
Dyno = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test does reaches the user's cache or store; exports are shared between the tests of a session."""
    monkeypatch.setenv("DYNO_STORE", str(tmp_path / "dyno.duckdb"))
    monkeypatch.setenv("DYNO_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))
    monkeypatch.syspath_prepend(PLUGINS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(PLUGINS), os.environ.get("PYTHONPATH")])))


@pytest.fixture
def dyno(tmp_path: Path) -> Dyno:
    """Runs the real command in a folder of its own."""

    def run(*arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, "-m", "modeldyno", *arguments]
        # Said aloud: readline, which pytest imports, gives children a COLUMNS that os.environ does not know.
        told = {"env": dict(os.environ), "cwd": tmp_path}
        settings = {"capture_output": True, "text": True, "check": False, **told, **options}
        return subprocess.run(command, **settings)

    return run
