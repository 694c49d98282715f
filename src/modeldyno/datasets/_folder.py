"""Data sets of the user's own: a folder of text files, or of images in a folder for each class."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.errors import InputError, Unsupported
from modeldyno.datasets._dataset import HELD_OUT_SHARE, Draw, Images

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

_WORD = re.compile(r"\w+|[^\w\s]")
_UNKNOWN = 0
_PICTURES = frozenset({".png", ".jpg", ".jpeg", ".webp", ".bmp"})


def text_files(path: Path) -> list[Path]:
    return sorted(file for file in path.glob("*.txt") if file.is_file())


def image_files(path: Path) -> dict[str, list[Path]]:
    """The images of each class, by the name of its folder."""
    folders = sorted(folder for folder in path.iterdir() if folder.is_dir())
    found = {folder.name: sorted(f for f in folder.iterdir() if f.suffix.lower() in _PICTURES) for folder in folders}
    return {name: files for name, files in found.items() if files}


class TextFolder:
    """Words and punctuation marks, numbered by how often they occur; those the vocabulary has no room for are one.

    The last eighth of the text is held out."""

    def __init__(self, path: Path, files: Sequence[Path]) -> None:
        self.name = str(path)
        self._files = tuple(files)

    def text(self, draw: Draw, count: int, length: int, vocabulary: int) -> Array:
        words = _numbered(self._files, vocabulary)
        border = len(words) - len(words) // HELD_OUT_SHARE
        part = words[border:] if draw.held_out else words[:border]
        if len(part) < length:
            raise InputError(
                f"The text files in {self.name} hold {len(words)} words, too few for stretches of {length}; "
                f"give at least {length * HELD_OUT_SHARE} or ask for a shorter length."
            )
        begins = draw.rng().integers(0, len(part) - length + 1, count)
        return np.stack([part[begin : begin + length] for begin in begins])


@lru_cache(maxsize=1)
def _numbered(files: tuple[Path, ...], vocabulary: int) -> Array:
    words = [word for file in files for word in _WORD.findall(_read(file).lower())]
    known = {word: number for number, (word, _) in enumerate(Counter(words).most_common(vocabulary - 1), start=1)}
    return np.array([known.get(word, _UNKNOWN) for word in words], dtype=np.int64)


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error}; mend its rights or take it out of the folder.") from error


class ImageFolder:
    """Labels are the class folders in the order of their names. Every eighth image of a class is held out."""

    def __init__(self, path: Path, files: Mapping[str, Sequence[Path]]) -> None:
        self.name = str(path)
        self._files = files

    def images(self, draw: Draw, count: int, size: tuple[int, int], classes: int) -> Images:
        if len(self._files) > classes:
            raise InputError(
                f"{self.name} has {len(self._files)} class folders, the model tells {classes} classes apart; "
                "use fewer or another model."
            )
        examples = self._part(draw.held_out)
        chosen = [examples[i] for i in draw.rng().integers(0, len(examples), count)]
        return Images(
            pixels=np.stack([_pixels(file, size) for file, _ in chosen]),
            labels=np.array([label for _, label in chosen], dtype=np.int64),
        )

    def _part(self, held_out: bool) -> list[tuple[Path, int]]:
        found = [
            (file, label)
            for label, files in enumerate(self._files.values())
            for i, file in enumerate(files)
            if (i % HELD_OUT_SHARE == 1) == held_out
        ]
        if not found:
            raise InputError(f"The classes in {self.name} have one image each; give two or more, one is held out.")
        return found


@lru_cache(maxsize=4096)
def _pixels(file: Path, size: tuple[int, int]) -> Array:
    image_module = _pillow()
    try:
        with image_module.open(file) as image:
            scaled = image.convert("RGB").resize((size[1], size[0]))
    except OSError as error:
        raise InputError(f"{file} is no image that can be read: {error}; take it out of the folder.") from error
    return np.asarray(scaled, dtype=np.float32).transpose(2, 0, 1) / np.float32(127.5) - 1


def _pillow() -> Any:
    try:
        from PIL import Image
    except ImportError as error:
        raise Unsupported("reading images needs Pillow, which is not installed", "pip install pillow") from error
    return Image
