"""An empty store, made once in a session: making one takes longer than all that most tests do with it."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory

from modeldyno.store.maintenance import init
from modeldyno.store.store import Store


def blank_store(path: Path) -> Store:
    """A copy of it there, unless there is a store already."""
    if not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_blank())
    return Store(path)


@cache
def _blank() -> bytes:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "blank.duckdb"
        init(Store(path), sample_data=False)
        return path.read_bytes()
