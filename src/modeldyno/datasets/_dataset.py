"""What a data set offers: a name, and one method per kind of example it can make.

Batch N of a seed is a pure function of both, so work that was interrupted goes on without a state.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np

    Array = np.ndarray[Any, Any]

HELD_OUT_SHARE = 8
"""One example in this many is kept out of training."""
SPEECH_RATE = 16_000
"""Samples per second that speech models expect."""


@dataclass(frozen=True)
class Draw:
    """Which batch: its number in the order of a seed, from the training or the held-out part."""

    seed: int
    number: int
    held_out: bool = False

    def rng(self, purpose: int = 0) -> np.random.Generator:
        """Each purpose has a stream of its own."""
        import numpy as np

        return np.random.default_rng([self.seed, self.number, int(self.held_out), purpose])

    def has(self, plan: Iterable[int]) -> bool:
        """Whether an example belongs to this part: what it is made of decides, so no example is in both."""
        return self.held_out == (zlib.crc32(",".join(map(str, plan)).encode()) % HELD_OUT_SHARE == 0)


@dataclass(frozen=True)
class Images:
    """Pictures of one thing each."""

    pixels: Array
    """Count x 3 x height x width, around zero."""
    labels: Array
    """Count."""


@dataclass(frozen=True)
class Scenes:
    """Pictures of several things each, as many in every picture."""

    pixels: Array
    labels: Array
    """Count x things."""
    boxes: Array
    """Count x things x 4: middle across, middle down, width, height, as shares of the picture."""


@dataclass(frozen=True)
class Sounds:
    waves: Array
    """Count x samples, between -1 and 1."""
    transcripts: Array
    """Count x notes: the number of each note in the alphabet."""


@dataclass(frozen=True)
class Pairs:
    """Something seen or heard, and what a caption says of it."""

    values: Array
    """Pixels (count x 3 x height x width), frames (count x frames x 3 x ...) or waves (count x samples)."""
    captions: Array
    """Count x words: numbers below the data set's `caption_words`."""


class Dataset(Protocol):
    """What all have; what they can make are protocols of their own."""

    name: str


@runtime_checkable
class GivesText(Protocol):
    def text(self, draw: Draw, count: int, length: int, vocabulary: int) -> Array:
        """Count x length numbers of words, all below `vocabulary`."""
        ...


@runtime_checkable
class GivesImages(Protocol):
    def images(self, draw: Draw, count: int, size: tuple[int, int], classes: int) -> Images: ...


@runtime_checkable
class GivesScenes(Protocol):
    def scenes(self, draw: Draw, count: int, size: tuple[int, int], classes: int) -> Scenes: ...


@runtime_checkable
class GivesSounds(Protocol):
    alphabet: int
    """How many letters its transcripts are made of."""

    def sounds(self, draw: Draw, count: int, samples: int, notes: int, letters: int, rate: int) -> Sounds:
        """Transcripts use only the first so many `letters` of the alphabet."""
        ...


@runtime_checkable
class GivesPairs(Protocol):
    caption_words: int
    """How many words its captions are made of."""

    def pictures(self, draw: Draw, count: int, size: tuple[int, int]) -> Pairs: ...

    def videos(self, draw: Draw, count: int, frames: int, size: tuple[int, int]) -> Pairs: ...

    def sounds_told(self, draw: Draw, count: int, samples: int, rate: int) -> Pairs: ...
