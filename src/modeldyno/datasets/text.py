"""A small language with a grammar: words agree, numbers count up, what was said is said again.

The numbers of the words alone, however often each occurs, say little about the next one: a model has to look back.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from modeldyno.core.errors import Unsupported
from modeldyno.datasets._dataset import Draw

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

_STOP, _SAY, _AGAIN, _COUNT = range(4)
_DIGITS = 4
_ARTICLES = 14
"""One per gender."""
_OPEN = 18
"""From here on: noun, verb and adjective of each gender, then those of the next rank, and so on."""
_GENDERS = 4
_KINDS = 3
_NOUN, _VERB, _ADJECTIVE = range(_KINDS)
_PER_RANK = _GENDERS * _KINDS
SMALLEST_VOCABULARY = _OPEN + _PER_RANK


class _Speaker:
    """Says one sentence after the other."""

    def __init__(self, rng: np.random.Generator, vocabulary: int) -> None:
        self._chances = _chances(rng)
        self._ranks = (vocabulary - _OPEN) // _PER_RANK

    def sentence(self) -> list[int]:
        chance = next(self._chances)
        if chance < 0.7:
            return self._statement()
        return self._count() if chance < 0.85 else self._copy()

    def _statement(self) -> list[int]:
        """Everything that belongs to a noun has its gender, the verb has the first noun's."""
        subject, thing = self._below(_GENDERS), self._below(_GENDERS)
        return [*self._named(subject), self._word(_VERB, subject), *self._named(thing), _STOP]

    def _named(self, gender: int) -> list[int]:
        adjective = [self._word(_ADJECTIVE, gender)] if next(self._chances) < 0.5 else []
        return [_ARTICLES + gender, *adjective, self._word(_NOUN, gender)]

    def _count(self) -> list[int]:
        begin, length = self._below(10), 3 + self._below(6)
        return [_COUNT, *(_DIGITS + (begin + i) % 10 for i in range(length)), _STOP]

    def _copy(self) -> list[int]:
        said = [self._word(_NOUN, self._below(_GENDERS)) for _ in range(2 + self._below(3))]
        return [_SAY, *said, _AGAIN, *said, _STOP]

    def _word(self, kind: int, gender: int) -> int:
        # Zipf's law: a word's frequency falls with its rank, so a large vocabulary can be learned from little text.
        rank = int(math.exp(next(self._chances) * math.log(self._ranks + 1))) - 1
        return _OPEN + _PER_RANK * min(rank, self._ranks - 1) + _GENDERS * kind + gender

    def _below(self, limit: int) -> int:
        return int(next(self._chances) * limit)


def _chances(rng: np.random.Generator) -> Iterator[float]:
    while True:
        yield from rng.random(4096).tolist()


class Text:
    name = "text"

    def text(self, draw: Draw, count: int, length: int, vocabulary: int) -> Array:
        if vocabulary < SMALLEST_VOCABULARY:
            raise Unsupported(
                f"a vocabulary of {vocabulary} ordinary words is too small for the data set '{self.name}'",
                f"use a model with {SMALLEST_VOCABULARY} or more",
            )
        speaker = _Speaker(draw.rng(), vocabulary)
        return np.array([_stretch(draw, speaker, length) for _ in range(count)], dtype=np.int64)


def _stretch(draw: Draw, speaker: _Speaker, length: int) -> list[int]:
    words: list[int] = []
    while len(words) < length:
        sentence = speaker.sentence()
        if draw.has(sentence):
            words += sentence
    return words[:length]


MEMBER = Text()
