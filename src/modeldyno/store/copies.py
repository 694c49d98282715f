"""Copies of the store's file in the temporary folder: they go with their process, or with the next one after a kill."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path

import psutil

from modeldyno.store.database import connect
from modeldyno.store.store import Store

_PREFIX = "dyno-snapshot-"


def new_folder() -> Path:
    """For one copy; what killed processes left behind is removed first."""
    for left in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*"):
        process = left.name.removeprefix(_PREFIX).partition("-")[0]
        if process.isdecimal() and not psutil.pid_exists(int(process)):
            shutil.rmtree(left, ignore_errors=True)
    return Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))


def copy_into(folder: Path, store: Store) -> Path:
    """The file as it is between two writers."""
    copy = folder / "store.duckdb"
    with connect(store.path, write=False):  # migrates an older store, and keeps writers away
        for ending in ("", ".wal"):
            if (original := store.path.with_name(store.path.name + ending)).exists():
                shutil.copyfile(original, copy.with_name(copy.name + ending))
    return copy
