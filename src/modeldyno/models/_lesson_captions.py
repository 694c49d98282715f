"""Lessons in captions: a picture and a prompt, then the words that describe it."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.errors import Unsupported
from modeldyno.datasets import Draw, GivesPairs
from modeldyno.models._image_text_inputs import LEAD
from modeldyno.models._lesson import Lesson, Order
from modeldyno.models._lesson_images import fit
from modeldyno.models._lesson_text import NO_LABEL, in_place, one_later, ordinary_ids
from modeldyno.models._tokens import special_ids, text_config

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_HEADS = ("multi_modal_projector", "visual.merger", "language_projection")
"""What joins the image's features to the text model: the part that such models are taught first."""


def caption(order: Order) -> Lesson:
    base, source = order.inputs(), order.examples("pairs", GivesPairs, "pictures with a caption")
    by_decoder = "decoder_input_ids" in base
    tokens = base["decoder_input_ids" if by_decoder else "input_ids"].size
    writer = order.config.decoder if by_decoder else text_config(order.config)
    reserved = special_ids(order.config)
    ids = ordinary_ids(writer, reserved)

    def make(draw: Draw) -> Arrays:
        pairs = source.pictures(draw, order.batch, _size(order, base))
        said = ids[pairs.captions]
        told = _decoded(base, said) if by_decoder else _after_prompt(base, said, reserved)
        return {**told, "pixel_values": _fitted(order, pairs.values, base)}

    mark = in_place if by_decoder else one_later
    return Lesson(source.name, "caption", order.seed, make, mark=mark, tokens=tokens, heads=_HEADS)


def _after_prompt(base: Arrays, said: Any, reserved: set[int]) -> Arrays:
    """The same prompt for every picture, the caption at its end."""
    count, words = said.shape
    ids = np.repeat(base["input_ids"][:1], count, axis=0)
    if ids.shape[1] <= words or reserved & set(ids[0, -words:].tolist()):
        raise Unsupported(
            f"the prompt is too short for captions of {words} words", f"ask for seq of {words + LEAD} or more"
        )
    ids[:, -words:] = said
    labels = np.full_like(ids, NO_LABEL)
    labels[:, -words:] = said
    return {**base, "input_ids": ids, "labels": labels}


def _decoded(base: Arrays, said: Any) -> Arrays:
    """The library makes the decoder's inputs from the labels."""
    length = base["decoder_input_ids"].shape[1]
    labels = np.full((len(said), length), NO_LABEL, dtype=np.int64)
    labels[:, : said.shape[1]] = said[:, :length]
    return {"labels": labels}


def _size(order: Order, base: Arrays) -> tuple[int, int]:
    shape = base["pixel_values"].shape
    return (order.shape["image"], order.shape["image"]) if len(shape) == 2 else (shape[-2], shape[-1])


def _fitted(order: Order, pixels: Any, base: Arrays) -> Any:
    shape = base["pixel_values"].shape
    return _patches(order.config.vision_config, pixels) if len(shape) == 2 else fit(pixels, shape)


def _patches(vision: Any, pixels: Any) -> Any:
    """Qwen-VL takes a row per patch, those that are merged later side by side, each frame twice."""
    patch, merge = vision.patch_size, vision.spatial_merge_size
    count, channels, height, _ = pixels.shape
    side = height // patch // merge
    split = pixels.reshape(count, channels, side, merge, patch, side, merge, patch)
    ordered = split.transpose(0, 2, 5, 3, 6, 1, 4, 7)[..., None, :, :]
    rows = np.repeat(ordered, vision.temporal_patch_size, axis=-3)
    return np.ascontiguousarray(rows.reshape(-1, math.prod(rows.shape[5:])))
