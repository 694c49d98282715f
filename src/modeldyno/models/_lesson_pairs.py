"""Lessons in pairs: which caption belongs to which picture, film or sound of the batch."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.errors import Unsupported
from modeldyno.datasets import Draw, GivesPairs, Spectrum
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._lesson_images import fit
from modeldyno.models._lesson_text import ordinary_ids
from modeldyno.models._tokens import text_config

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.datasets import Pairs

_CLAP = Spectrum(rate=48_000, window=1024, hop=480, bins=64, lowest_hz=50.0, highest_hz=14_000.0)
_LEAST = 2
_SECONDS = 1
"""Of a tune; CLAP's feature extractor repeats what is shorter than its ten."""
_HEADS = ("projection", "logit_scale", "logit_bias")


def matching(order: Order) -> Lesson:
    if order.batch < _LEAST:
        raise Unsupported(
            f"'{order.spec.name}' learns to tell the pairs of a batch apart, and a batch of one has no other",
            f"ask for --batch {_LEAST} or more",
        )
    base, source = order.inputs(), order.examples("pairs", GivesPairs, "pairs with a caption")

    def make(draw: Draw) -> Arrays:
        pairs, values = _perceived(source, draw, base)
        return {**base, **values, **_told(order, pairs.captions, base)}

    tokens = base["input_ids"].size
    return Lesson(source.name, "pairs", order.seed, make, _match, _right_pairs, tokens, _LEAST, _HEADS)


def _perceived(source: GivesPairs, draw: Draw, base: Arrays) -> tuple[Pairs, Arrays]:
    if "input_features" in base:
        return _sound(source, draw, base["input_features"].shape)
    shape = base["pixel_values"].shape
    if len(shape) == 5:
        pairs = source.videos(draw, shape[0], shape[1], shape[-2:])
        return pairs, {"pixel_values": pairs.values}
    pairs = source.pictures(draw, shape[0], shape[-2:])
    return pairs, {"pixel_values": fit(pairs.values, shape)}


def _sound(source: GivesPairs, draw: Draw, shape: tuple[int, ...]) -> tuple[Pairs, Arrays]:
    spectrum = replace(_CLAP, bins=shape[-1])
    pairs = source.sounds_told(draw, shape[0], _SECONDS * spectrum.rate, spectrum.rate)
    once = spectrum.decibels(pairs.values)[:, :-1]
    frames = np.take(once, np.arange(shape[-2]) % once.shape[1], axis=1)
    return pairs, {"input_features": np.broadcast_to(frames[:, None], shape).copy()}


def _told(order: Order, captions: Any, base: Arrays) -> Arrays:
    """The caption, the end where the model has a word for it, and nothing after that."""
    text = text_config(order.config)
    ids = ordinary_ids(text)
    end, room = _known(text, "eos_token_id"), base["input_ids"].shape[1]
    said = np.concatenate([ids[captions], np.full((len(captions), 1), ids[-1] if end is None else end)], axis=1)
    if said.shape[1] > room:
        raise Unsupported(
            f"seq={room} is too short for captions of {said.shape[1]} words", f"ask for seq of {said.shape[1]} or more"
        )
    padding = _known(text, "pad_token_id")
    words = np.full_like(base["input_ids"], ids[-1] if padding is None else padding)
    words[:, : said.shape[1]] = said
    told = {"input_ids": words}
    if "attention_mask" in base:
        told["attention_mask"] = np.broadcast_to(np.arange(room) < said.shape[1], words.shape).astype(np.int64)
    return told


def _known(text: Any, name: str) -> int | None:
    found = getattr(text, name, None)
    return found if isinstance(found, int) and 0 <= found < text.vocab_size else None


def _match(model: Any, tensors: Any) -> Any:
    return model(**tensors, return_loss=True)


def _right_pairs(outputs: Any, tensors: Any) -> tuple[int, int]:
    names = ("logits_per_image", "logits_per_video", "logits_per_audio")
    scores = next(outputs[name] for name in names if name in outputs)
    count = len(tensors["input_ids"])
    return int((scores.argmax(-1).cpu().numpy() == np.arange(count)).sum()), count
