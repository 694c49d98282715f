"""Lessons in pictures: what is to be seen, and where."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from modeldyno.core.errors import Unsupported
from modeldyno.datasets import Draw, GivesImages, GivesScenes
from modeldyno.models._lesson import Lesson, Order

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays

_FOUND = 0.5
"""A box counts as found where it and the true one share at least this part of what they cover together."""


def fit(pixels: Any, shape: tuple[int, ...]) -> Any:
    """Pictures (count x 3 x height x width) as a model takes them: further frames and tiles show the same."""
    if shape[-3] != pixels.shape[1]:
        pixels = np.repeat(pixels.mean(1, keepdims=True), shape[-3], axis=1)
    between = (1,) * (len(shape) - 4)
    return np.broadcast_to(pixels.reshape(len(pixels), *between, *pixels.shape[1:]), shape).copy()


def label(order: Order) -> Lesson:
    base, source = order.inputs(), order.examples("images", GivesImages, "images with labels")
    shape = base["pixel_values"].shape

    def make(draw: Draw) -> Arrays:
        images = source.images(draw, order.batch, shape[-2:], order.config.num_labels)
        return {**base, "pixel_values": fit(images.pixels, shape), "labels": images.labels}

    return Lesson(source.name, "label", order.seed, make, mark=_right_labels)


def _right_labels(outputs: Any, tensors: Any) -> tuple[int, int]:
    labels = tensors["labels"]
    return int((outputs.logits.argmax(-1) == labels).sum()), len(labels)


def boxes(order: Order) -> Lesson:
    base, source = order.inputs(), order.examples("images", GivesScenes, "images with boxes")
    shape = base["pixel_values"].shape

    def make(draw: Draw) -> Arrays:
        scenes = source.scenes(draw, order.batch, shape[-2:], order.config.num_labels)
        things = {"class_labels": scenes.labels, "boxes": scenes.boxes}
        return {**base, "pixel_values": fit(scenes.pixels, shape), **things}

    return Lesson(source.name, "boxes", order.seed, make, _detect, _found_boxes)


def _detect(model: Any, tensors: Any) -> Any:
    if tensors["boxes"].dtype.itemsize < 4:
        raise Unsupported("the library's loss compares boxes in fp32 only", "use fp32 with --option autocast=bf16")
    inputs = {name: tensor for name, tensor in tensors.items() if name not in ("class_labels", "boxes")}
    pairs = zip(tensors["class_labels"], tensors["boxes"], strict=True)
    return model(**inputs, labels=[{"class_labels": labels, "boxes": found} for labels, found in pairs])


def _found_boxes(outputs: Any, tensors: Any) -> tuple[int, int]:
    """Things for which some box has the right label and place."""
    said, true = outputs.logits.argmax(-1), tensors["class_labels"]
    overlap = _overlap(outputs.pred_boxes.float()[:, :, None], tensors["boxes"].float()[:, None])
    hits = (said[:, :, None] == true[:, None]) & (overlap >= _FOUND)
    return int(hits.any(1).sum()), true.numel()


def _overlap(one: Any, other: Any) -> Any:
    """Intersection over union of boxes given by middle and size."""
    low = (one[..., :2] - one[..., 2:] / 2).maximum(other[..., :2] - other[..., 2:] / 2)
    high = (one[..., :2] + one[..., 2:] / 2).minimum(other[..., :2] + other[..., 2:] / 2)
    shared = (high - low).clamp(min=0).prod(-1)
    return shared / (one[..., 2:].prod(-1) + other[..., 2:].prod(-1) - shared)
