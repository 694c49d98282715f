"""The lesson of encoders without a head: which two of a batch are views of the same thing (SimCLR)."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.errors import Unsupported
from modeldyno.datasets import SPEECH_RATE, Draw, GivesImages, GivesSounds, GivesText
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._lesson_images import fit
from modeldyno.models._lesson_sounds import heard
from modeldyno.models._lesson_text import hidden_places, ordinary_ids
from modeldyno.models._tokens import text_config

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_LEAST = 4
_TEMPERATURE = 0.1
_NOISE = 0.3
_OTHER_NOISE = 1
"""The purpose of chance that makes two views differ."""
_CLASSES, _TUNE = 36, 4


def views(order: Order) -> Lesson:
    if order.batch < _LEAST or order.batch % 2:
        raise Unsupported(
            f"a {order.class_name} has no task of its own; it learns which two of a batch show the same",
            f"ask for --batch {_LEAST} or a larger even number, or for a model with a head",
        )
    base = order.inputs()
    name, make = next(of(order, base) for input_name, of in _KINDS.items() if input_name in base)
    tokens = base["input_ids"].size if "input_ids" in base else None
    return Lesson(name, "views", order.seed, make, _compare, _right_partners, tokens, _LEAST)


def _of_text(order: Order, base: Arrays) -> tuple[str, Callable[[Draw], Arrays]]:
    source = order.examples("text", GivesText, "text")
    ids, (rows, length) = ordinary_ids(text_config(order.config)), base["input_ids"].shape

    def make(draw: Draw) -> Arrays:
        words = np.repeat(ids[source.text(draw, rows // 2, length, len(ids) - 1)], 2, axis=0)
        np.put_along_axis(words, hidden_places(draw, rows, length), ids[-1], 1)
        return {**base, "input_ids": words}

    return source.name, make


def _of_images(order: Order, base: Arrays) -> tuple[str, Callable[[Draw], Arrays]]:
    source, shape = order.examples("images", GivesImages, "images"), base["pixel_values"].shape

    def make(draw: Draw) -> Arrays:
        images = source.images(draw, order.batch // 2, shape[-2:], _CLASSES)
        seen = fit(np.repeat(images.pixels, 2, axis=0), shape)
        return {**base, "pixel_values": seen + _noise(draw, shape)}

    return source.name, make


def _of_sounds(order: Order, base: Arrays) -> tuple[str, Callable[[Draw], Arrays]]:
    source = order.examples("tones", GivesSounds, "sounds")
    name, samples, features = heard(base)

    def make(draw: Draw) -> Arrays:
        sounds = source.sounds(draw, order.batch // 2, samples, _TUNE, source.alphabet, SPEECH_RATE)
        values = np.repeat(features(sounds.waves), 2, axis=0)
        return {**base, name: values + _noise(draw, values.shape)}

    return source.name, make


_KINDS = {
    "input_ids": _of_text,
    "pixel_values": _of_images,
    "input_values": _of_sounds,
    "input_features": _of_sounds,
}


def _noise(draw: Draw, shape: tuple[int, ...]) -> Any:
    return np.float32(_NOISE) * draw.rng(_OTHER_NOISE).standard_normal(shape, dtype=np.float32)


def _compare(model: Any, tensors: Any) -> Any:
    import torch
    from torch.nn.functional import cross_entropy, normalize

    outputs = model(**tensors)
    states = outputs[0]
    vectors = normalize(states.flatten(2).mean(2) if states.ndim == 4 else states.mean(1), dim=-1)
    own = torch.eye(len(vectors), dtype=torch.bool, device=vectors.device)
    scores = (vectors @ vectors.T / _TEMPERATURE).masked_fill(own, float("-inf"))
    partners = torch.arange(len(vectors), device=vectors.device) ^ 1
    return SimpleNamespace(loss=cross_entropy(scores, partners), scores=scores, partners=partners)


def _right_partners(outputs: Any, tensors: Any) -> tuple[int, int]:  # noqa: ARG001 - the rows' order says who is whose
    return int((outputs.scores.argmax(-1) == outputs.partners).sum()), len(outputs.partners)
