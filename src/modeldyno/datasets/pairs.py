"""Something seen or heard with a caption: a picture or a film of a shape, or a tune."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from modeldyno.datasets._dataset import Draw, Pairs
from modeldyno.datasets._drawing import COLOURS, SHAPES, Thing, canvas, draw_thing, with_noise
from modeldyno.datasets.tones import ALPHABET, Tones

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

_PLACES = 3
_WAYS = ((0.0, 0.0), (0.25, 0.0), (-0.25, 0.0), (0.0, 0.25), (0.0, -0.25))
"""How far a shape goes across and down in a film."""
_SEEN = (COLOURS, SHAPES, _PLACES, _PLACES, len(_WAYS))
"""How many words there are for each thing a caption says; they are numbered in this order, notes come last."""
_FIRST_WORDS = np.cumsum([0, *_SEEN])
_TUNE = 4
_SIZES = 32
_TRIES = 50


class CaptionedPairs:
    name = "pairs"
    caption_words = int(_FIRST_WORDS[-1]) + ALPHABET

    def pictures(self, draw: Draw, count: int, size: tuple[int, int]) -> Pairs:
        """Colour, shape, row and column."""
        rng = draw.rng()
        plans = _plans(draw, rng, count, _SEEN[:4])
        pixels = _films(rng, [(*plan[:4], 0, plan[4]) for plan in plans], 1, size)[:, 0]
        return Pairs(pixels, _captions(plans))

    def videos(self, draw: Draw, count: int, frames: int, size: tuple[int, int]) -> Pairs:
        """The same, and where it goes."""
        rng = draw.rng()
        plans = _plans(draw, rng, count, _SEEN)
        return Pairs(_films(rng, plans, frames, size), _captions(plans))

    def sounds_told(self, draw: Draw, count: int, samples: int, rate: int) -> Pairs:
        """The notes of a tune."""
        tunes = Tones().sounds(draw, count, samples, _TUNE, ALPHABET, rate)
        return Pairs(tunes.waves, _FIRST_WORDS[-1] + tunes.transcripts)


def _plans(draw: Draw, rng: np.random.Generator, count: int, said: Sequence[int]) -> list[list[int]]:
    """What the captions say, then a size. A batch has no caption twice as long as there are enough of them."""
    plans: list[list[int]] = []
    while len(plans) < count:
        for _ in range(_TRIES):
            plan = rng.integers(0, [*said, _SIZES]).tolist()
            if draw.has(plan) and all(plan[:-1] != other[:-1] for other in plans):
                break
        if draw.has(plan):
            plans.append(plan)
    return plans


def _captions(plans: Sequence[Sequence[int]]) -> Array:
    said = np.array([plan[:-1] for plan in plans], dtype=np.int64)
    numbered: Array = said + _FIRST_WORDS[: said.shape[1]]
    return numbered


def _films(rng: np.random.Generator, plans: Sequence[Sequence[int]], frames: int, size: tuple[int, int]) -> Array:
    films = np.stack([canvas(rng, (frames, 3, *size)) for _ in plans])
    for film, plan in zip(films, plans, strict=True):
        for moment, picture in enumerate(film):
            draw_thing(picture, _thing(plan, moment / max(1, frames - 1)))
    return with_noise(rng, films)


def _thing(plan: Sequence[int], moment: float) -> Thing:
    colour, shape, row, column, way, size = plan
    across, down = ((place + 0.5) / _PLACES for place in (column, row))
    return Thing(
        shape=shape,
        colour=colour,
        across=across + _WAYS[way][0] * (moment - 0.5),
        down=down + _WAYS[way][1] * (moment - 0.5),
        radius=0.12 + 0.04 * size / _SIZES,
    )


MEMBER = CaptionedPairs()
