"""From what the user wrote to a data set: a name, or a folder of text files or of images in class folders."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from modeldyno.core.errors import InputError

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Dataset


def find(name: str) -> Dataset:
    """Raises UnknownName for a name no data set has, InputError for a folder that is missing or holds no examples."""
    from modeldyno.datasets import DATASETS

    path = Path(name).expanduser()
    if name in DATASETS.names():
        return DATASETS.get(name)
    if not path.is_dir() and not _is_path(name):
        return DATASETS.get(name)  # raises with the names there are
    return _of_folder(path)


def _is_path(name: str) -> bool:
    return "/" in name or "\\" in name or name.startswith(("~", "."))


def _of_folder(path: Path) -> Dataset:
    from modeldyno.datasets._folder import ImageFolder, TextFolder, image_files, text_files

    if not path.is_dir():
        raise InputError(f"There is no folder {path}; give the path of a folder with examples, or a data set's name.")
    if texts := text_files(path):
        return TextFolder(path, texts)
    if images := image_files(path):
        return ImageFolder(path, images)
    raise InputError(
        f"The folder {path} holds no examples; put text files (*.txt) into it, or images in a folder for each class."
    )
