"""What must survive a power cut: files and the folders that name them, down to the disk."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

PARTIAL = ".partial"
"""Ending of a file or folder that is being written as a whole; nothing in it was promised to anybody."""


def sync(path: Path) -> None:
    """A file, or a folder's list of names."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sync_tree(path: Path) -> None:
    """A file, or a folder with all that is in it."""
    if path.is_dir():
        for inner in path.iterdir():
            sync_tree(inner)
    sync(path)


def copy(source: Path, target: Path) -> None:
    """A copy that has its name only when all of it is on the disk."""
    partial = target.with_name(target.name + PARTIAL)
    shutil.copyfile(source, partial)
    sync(partial)
    partial.replace(target)
    sync(target.parent)
