"""Pictures of coloured shapes at any place and size: one with a label, or several with a label and a box each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from modeldyno.datasets._dataset import Draw, Images, Scenes
from modeldyno.datasets._drawing import COLOURS, SHAPES, Thing, canvas, draw_thing, with_noise

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

    Plan = tuple[int, ...]
    """Class, then steps across, down and in size: what a thing is made of."""

_CLASSES = SHAPES * COLOURS
_PLACES, _SIZES = 16, 8
_THINGS = 3
_CELLS = 3
"""Rows and columns of the raster that keeps the things of a scene apart."""


class ShapeImages:
    name = "images"

    def images(self, draw: Draw, count: int, size: tuple[int, int], classes: int) -> Images:
        rng = draw.rng()
        plans = [_plan(draw, rng, min(classes, _CLASSES), things=1) for _ in range(count)]
        things = [[_alone(plan[0])] for plan in plans]
        return Images(_drawn(rng, things, size), np.array([plan[0][0] for plan in plans], dtype=np.int64))

    def scenes(self, draw: Draw, count: int, size: tuple[int, int], classes: int) -> Scenes:
        rng = draw.rng()
        plans = [_plan(draw, rng, min(classes, _CLASSES), _THINGS) for _ in range(count)]
        things = [_apart(plan, rng) for plan in plans]
        return Scenes(
            pixels=_drawn(rng, things, size),
            labels=np.array([[one[0] for one in plan] for plan in plans], dtype=np.int64),
            boxes=np.array([[thing.box(size) for thing in group] for group in things], dtype=np.float32),
        )


def _plan(draw: Draw, rng: np.random.Generator, classes: int, things: int) -> list[Plan]:
    while True:
        rows = rng.integers(0, [classes, _PLACES, _PLACES, _SIZES], (things, 4)).tolist()
        if draw.has(number for row in rows for number in row):
            return [tuple(row) for row in rows]


def _thing(label: int, across: float, down: float, radius: float) -> Thing:
    # Neighbouring classes differ in both, so that few classes already need shape and colour.
    return Thing(label % SHAPES, (label + label // SHAPES) % COLOURS, across, down, radius)


def _alone(plan: Plan) -> Thing:
    label, across, down, size = plan
    radius = 0.15 + 0.15 * size / _SIZES
    room = 1 - 2 * radius
    return _thing(label, radius + room * across / (_PLACES - 1), radius + room * down / (_PLACES - 1), radius)


def _apart(plans: Sequence[Plan], rng: np.random.Generator) -> list[Thing]:
    """Each in a cell of its own."""
    cells = rng.choice(_CELLS * _CELLS, len(plans), replace=False).tolist()
    return [_in_cell(plan, divmod(cell, _CELLS)) for plan, cell in zip(plans, cells, strict=True)]


def _in_cell(plan: Plan, cell: tuple[int, int]) -> Thing:
    label, across, down, size = plan
    radius = (0.25 + 0.2 * size / _SIZES) / _CELLS
    right, low = (0.45 + 0.1 * step / (_PLACES - 1) for step in (across, down))
    return _thing(label, (cell[1] + right) / _CELLS, (cell[0] + low) / _CELLS, radius)


def _drawn(rng: np.random.Generator, groups: Sequence[Sequence[Thing]], size: tuple[int, int]) -> Array:
    pixels = np.stack([canvas(rng, (3, *size)) for _ in groups])
    for picture, things in zip(pixels, groups, strict=True):
        for thing in things:
            draw_thing(picture, thing)
    return with_noise(rng, pixels)


MEMBER = ShapeImages()
