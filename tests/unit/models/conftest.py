"""Every test here has a cache of its own and sees no checkpoint of the machine it runs on."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("kept")


@pytest.fixture(autouse=True)
def isolated(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DYNO_CACHE", str(kept))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path / "hub"))
