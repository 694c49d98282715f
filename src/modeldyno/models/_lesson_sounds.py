"""Lessons in sound: write down the notes that are heard."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.datasets import SPEECH_RATE, Draw, GivesSounds, Spectrum
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._lesson_text import NO_LABEL, in_place, ordinary_ids

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_WANTED = "sounds with a transcript"


def standardised(values: Any) -> Any:
    """Each example with mean 0 and spread 1, as Wav2Vec2's feature extractor gives them."""
    axes = tuple(range(1, values.ndim))
    return (values - values.mean(axes, keepdims=True)) / (values.std(axes, keepdims=True) + np.float32(1e-7))


def heard(base: Arrays) -> tuple[str, int, Any]:
    """The input that takes sound, the samples it holds, and how waves become it."""
    name = "input_values" if "input_values" in base else "input_features"
    shape = base[name].shape
    if len(shape) == 2:
        return name, shape[1], standardised
    spectrum = Spectrum(bins=80 if shape[2] % 80 == 0 else shape[2])
    frames = shape[1] * shape[2] // spectrum.bins

    def features(waves: Any) -> Any:
        return standardised(spectrum.decibels(waves)[:, :frames]).reshape(shape)

    return name, frames * spectrum.hop, features


def transcript(order: Order) -> Lesson:
    """Whisper's lesson: the letters of the notes, then the end."""
    base, source = order.inputs(), order.examples("tones", GivesSounds, _WANTED)
    base.pop("decoder_input_ids")  # the library makes them from the labels
    ids, length = ordinary_ids(order.config), order.shape["decoder_seq"]
    bins, frames = base["input_features"].shape[1:]
    spectrum = Spectrum(bins=bins)
    notes = max(1, min(length - 1, frames // 10))
    sounding = min(frames * spectrum.hop, notes * SPEECH_RATE // 4)

    def make(draw: Draw) -> Arrays:
        sounds = source.sounds(draw, order.batch, sounding, notes, source.alphabet, SPEECH_RATE)
        silence = frames * spectrum.hop - sounding
        waves = np.pad(sounds.waves, ((0, 0), (0, silence)))
        labels = np.full((order.batch, length), NO_LABEL, dtype=np.int64)
        ends = np.full((order.batch, 1), order.config.eos_token_id)
        said = np.concatenate([ids[sounds.transcripts], ends], axis=1)[:, :length]
        labels[:, : said.shape[1]] = said
        return {**base, "input_features": spectrum.whisper(waves), "labels": labels}

    return Lesson(source.name, "transcript", order.seed, make, mark=in_place, tokens=order.batch * length)


def aligned_transcript(order: Order) -> Lesson:
    """The letters in their order, wherever they fall (CTC); the padding token stands for no letter."""
    base, source = order.inputs(), order.examples("tones", GivesSounds, _WANTED)
    name, samples, features = heard(base)
    ids = ordinary_ids(order.config)[: source.alphabet]
    notes = max(1, samples // (SPEECH_RATE // 6))

    def make(draw: Draw) -> Arrays:
        sounds = source.sounds(draw, order.batch, samples, notes, len(ids), SPEECH_RATE)
        return {**base, name: features(sounds.waves), "labels": ids[sounds.transcripts]}

    def mark(outputs: Any, tensors: Any) -> tuple[int, int]:
        return _right_letters(outputs.logits.argmax(-1), tensors["labels"], order.config.pad_token_id)

    return Lesson(source.name, "aligned transcript", order.seed, make, mark=mark)


def _right_letters(frames: Any, labels: Any, blank: int) -> tuple[int, int]:
    wrong = sum(
        min(_edits(_collapsed(row, blank), true), len(true))
        for row, true in zip(frames.tolist(), labels.tolist(), strict=True)
    )
    return labels.numel() - wrong, labels.numel()


def _collapsed(frames: list[int], blank: int) -> list[int]:
    """What CTC means by a row of frames: repetitions are one letter, blanks none."""
    before = [blank, *frames]
    return [letter for last, letter in zip(before, frames, strict=False) if letter not in (last, blank)]


def _edits(said: list[int], true: list[int]) -> int:
    """Letters to change, add or take away (Levenshtein)."""
    row = list(range(len(true) + 1))
    for i, letter in enumerate(said, start=1):
        last, row[0] = row[0], i
        for j, wanted in enumerate(true, start=1):
            last, row[j] = row[j], min(last + (letter != wanted), row[j] + 1, row[j - 1] + 1)
    return row[-1]


def note(order: Order) -> Lesson:
    """Which one of the notes and chords is heard."""
    base, source = order.inputs(), order.examples("tones", GivesSounds, _WANTED)
    name, samples, features = heard(base)

    def make(draw: Draw) -> Arrays:
        sounds = source.sounds(
            draw, order.batch, samples, 1, min(source.alphabet, order.config.num_labels), SPEECH_RATE
        )
        return {**base, name: features(sounds.waves), "labels": sounds.transcripts[:, 0]}

    return Lesson(source.name, "note", order.seed, make, mark=in_place)
