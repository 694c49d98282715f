"""Notes and chords one after the other, with a transcript: a letter of a small alphabet for each."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from modeldyno.datasets._dataset import Draw, Sounds

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

    Plan = tuple[int, ...]
    """The letters, then tuning, loudness and rhythm."""

ALPHABET = 12
_NOTES = 8
"""Letters that are single notes; those after them are chords of two."""
_LOWEST_HZ = 220.0
_STEP = 1.5
"""Between neighbouring notes, a fifth: the highest is 3759 Hz, and its overtone still below half of the rate."""
_NOISE = 0.01
_VARIANTS = 32


class Tones:
    name = "tones"
    alphabet = ALPHABET

    def sounds(self, draw: Draw, count: int, samples: int, notes: int, letters: int, rate: int) -> Sounds:
        rng = draw.rng()
        plans = [_plan(draw, rng, notes, min(letters, ALPHABET)) for _ in range(count)]
        waves = np.stack([_wave(plan, samples, rate) for plan in plans])
        waves += _NOISE * rng.standard_normal(waves.shape, dtype=np.float32)
        return Sounds(waves, np.array([plan[:notes] for plan in plans], dtype=np.int64))


def _plan(draw: Draw, rng: np.random.Generator, notes: int, letters: int) -> Plan:
    while True:
        # Never the same letter twice in a row: without a gap nothing would tell one long note from two.
        begin, steps = rng.integers(0, letters), rng.integers(1, max(2, letters), notes - 1)
        said = (np.concatenate([[begin], begin + np.cumsum(steps)]) % letters).tolist()
        plan = (*said, *rng.integers(0, _VARIANTS, 3).tolist())
        if draw.has(plan):
            return plan


def _wave(plan: Plan, samples: int, rate: int) -> Array:
    *letters, tuning, loudness, rhythm = plan
    borders = _borders(len(letters), samples, rhythm)
    tune = 2 ** ((tuning / _VARIANTS - 0.5) / 48)  # an eighth of a semitone up or down
    lengths = [end - begin for begin, end in pairwise(borders)]
    parts = [_tone(letter, tune, length, rate) for letter, length in zip(letters, lengths, strict=True)]
    return np.concatenate(parts) * np.float32(0.3 + 0.6 * loudness / _VARIANTS)


def _borders(notes: int, samples: int, rhythm: int) -> list[int]:
    """Where each note begins: some are up to twice as long as others."""
    lengths = np.random.default_rng(rhythm).uniform(1, 2, notes)
    ends = np.round(np.cumsum(lengths) / lengths.sum() * samples).astype(int).tolist()
    return [0, *ends]


def _tone(letter: int, tune: float, samples: int, rate: int) -> Array:
    time = np.arange(samples) / rate
    pitches = (letter,) if letter < _NOTES else (letter - _NOTES, letter - _NOTES + 3)
    total = sum(_string(tune * _LOWEST_HZ * _STEP**pitch, time) for pitch in pitches)
    return (total / len(pitches) * _swell(samples, rate)).astype(np.float32)


def _string(hertz: float, time: Array) -> Array:
    """A fundamental and its first overtone."""
    return (np.sin(2 * np.pi * hertz * time) + np.sin(4 * np.pi * hertz * time) / 2) / 1.5


def _swell(samples: int, rate: int) -> Array:
    """In and out within 10 ms, so that a note neither begins nor ends in a crack."""
    edge = max(1, min(rate // 100, samples // 2))
    ramp = np.minimum(1, (np.arange(samples) + 1) / edge)
    return np.minimum(ramp, ramp[::-1])


MEMBER = Tones()
