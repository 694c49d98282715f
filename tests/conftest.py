"""Shared by all tests: a cache and a store of their own, and the plug-ins of tests/plugins on the path."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from playwright.sync_api import Browser

PLUGINS = Path(__file__).parent / "plugins"
QUIET = [
    "--no-sandbox",  # tests may run as root
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
"""A browser that asks nobody anything."""
Dyno = Callable[..., subprocess.CompletedProcess[str]]
# Before torch is imported: tests share the cores, and threads that spin for each other take many times as long.
os.environ.setdefault("OMP_NUM_THREADS", "1")


@pytest.fixture(autouse=True)
def _own_place(tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing a test does reaches the user's cache or store; exports are shared between the tests of a session."""
    monkeypatch.setenv("DYNO_STORE", str(tmp_path / "dyno.duckdb"))
    monkeypatch.setenv("DYNO_CACHE", str(_shared(tmp_path_factory) / "cache"))
    monkeypatch.delenv("COLUMNS", raising=False)  # xdist sets it, and tables would follow
    monkeypatch.syspath_prepend(PLUGINS)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join(filter(None, [str(PLUGINS), os.environ.get("PYTHONPATH")])))


def _shared(factory: pytest.TempPathFactory) -> Path:
    """One folder for the whole session, also where several processes share the tests."""
    base = factory.getbasetemp()
    return base.parent if "PYTEST_XDIST_WORKER" in os.environ else base


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


@pytest.fixture
def dyno_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]) -> Iterator[Dyno]:
    """The command inside of this process, for what measures nothing: a process for each question takes its time."""
    from modeldyno.cli import main

    handler = signal.getsignal(signal.SIGTERM)
    monkeypatch.chdir(tmp_path)

    def run(*arguments: str) -> subprocess.CompletedProcess[str]:
        monkeypatch.setattr(sys, "argv", ["dyno", *arguments])
        with pytest.raises(SystemExit) as stopped:
            main()
        return subprocess.CompletedProcess(arguments, int(stopped.value.code or 0), *capfd.readouterr())

    yield run
    signal.signal(signal.SIGTERM, handler)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """The system's own Chromium, driven for real; it ends with its module, for some tests count processes."""
    from playwright.sync_api import sync_playwright

    from modeldyno.platforms import _browsers

    found = _browsers.chromium()
    if not found:
        pytest.skip("no Chromium here")
    with sync_playwright() as driver:
        launched = driver.chromium.launch(executable_path=str(found), args=QUIET)
        yield launched
        launched.close()
