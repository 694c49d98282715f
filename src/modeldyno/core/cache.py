"""Where reusable work is kept: exported graphs and reference outputs, in the user's cache folder."""

from __future__ import annotations

import os
from pathlib import Path


def cache_dir(*parts: str) -> Path:
    """A folder of the cache (`DYNO_CACHE`, else the platform's usual place), made if needed."""
    root = os.environ.get("DYNO_CACHE")
    base = Path(root) if root else Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "modeldyno"
    folder = base.joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder
