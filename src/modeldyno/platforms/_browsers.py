"""Finds the browsers installed on this host, without starting them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

CHROMIUM = (
    "chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome", "microsoft-edge", "msedge",
)  # fmt: skip
FIREFOX = ("firefox", "firefox-esr")

_CHROMIUM_FILES = (
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "/Applications/Microsoft Edge.app/Contents/MacOS/Microsoft Edge",
    "{ProgramFiles}/Google/Chrome/Application/chrome.exe",
    "{ProgramFiles(x86)}/Microsoft/Edge/Application/msedge.exe",
)
_FIREFOX_FILES = (
    "/Applications/Firefox.app/Contents/MacOS/firefox",
    "{ProgramFiles}/Mozilla Firefox/firefox.exe",
)


def chromium() -> str | None:
    return _first(CHROMIUM, _CHROMIUM_FILES)


def firefox() -> str | None:
    return _first(FIREFOX, _FIREFOX_FILES)


def render_node(root: Path = Path("/")) -> bool:
    """Whether Linux offers a GPU to draw with; without one a browser emulates it on the processor."""
    return any((root / "dev/dri").glob("renderD*"))


def _first(commands: tuple[str, ...], files: tuple[str, ...]) -> str | None:
    for command in commands:
        if path := shutil.which(command):
            return path
    return next((path for file in files if Path(path := _expand(file)).is_file()), None)


def _expand(file: str) -> str:
    for name in ("ProgramFiles", "ProgramFiles(x86)"):
        file = file.replace(f"{{{name}}}", os.environ.get(name, f"/no {name}"))
    return file
