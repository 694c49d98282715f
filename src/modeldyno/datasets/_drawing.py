"""Coloured shapes drawn onto pixels: what data sets of pictures share."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from modeldyno.datasets._dataset import Array

NOISE = 0.1

# Where a point belongs to the shape; both run from -1 to 1 across its box.
_SHAPES: tuple[Callable[[Array, Array], Array], ...] = (
    lambda x, y: x**2 + y**2 <= 1,  # disc
    lambda x, y: (abs(x) <= 1) & (abs(y) <= 1),  # square
    lambda x, y: (abs(x) <= (y + 1) / 2) & (y <= 1),  # triangle
    lambda x, y: (abs(x) <= 0.34) | (abs(y) <= 0.34),  # cross
    lambda x, y: (x**2 + y**2 <= 1) & (x**2 + y**2 >= 0.36),  # ring
    lambda x, y: abs(x) + abs(y) <= 1,  # diamond
)
_COLOURS = np.array(
    [[1, -1, -1], [-1, 1, -1], [-1, -1, 1], [1, 1, -1], [1, -1, 1], [-1, 1, 1]], dtype=np.float32
)  # red, green, blue, yellow, magenta, cyan
SHAPES, COLOURS = len(_SHAPES), len(_COLOURS)


@dataclass(frozen=True)
class Thing:
    """A shape in a colour; place and size are shares of the picture's shorter side or of each side."""

    shape: int
    colour: int
    across: float
    down: float
    radius: float

    def box(self, size: tuple[int, int]) -> tuple[float, float, float, float]:
        """Middle across, middle down, width, height, as shares of the picture."""
        side = min(size)
        return self.across, self.down, 2 * self.radius * side / size[1], 2 * self.radius * side / size[0]


def draw_thing(pixels: Array, thing: Thing) -> None:
    """Onto one picture (3 x height x width), in place."""
    height, width = pixels.shape[1:]
    radius = thing.radius * min(height, width)
    top, rows = _span(thing.down * height, radius, height)
    left, columns = _span(thing.across * width, radius, width)
    inside = _SHAPES[thing.shape](columns[None, :], rows[:, None])
    window = pixels[:, top : top + len(rows), left : left + len(columns)]
    window[:, inside] = _COLOURS[thing.colour][:, None]


def _span(middle: float, radius: float, length: int) -> tuple[int, Array]:
    """The first pixel of a box along one side, and where its pixels lie between -1 and 1."""
    first, last = max(0, round(middle - radius)), min(length, round(middle + radius))
    return first, (np.arange(first, last) + 0.5 - middle) / radius


def canvas(rng: np.random.Generator, shape: tuple[int, ...]) -> Array:
    """A dark ground; the noise comes on top of what is drawn."""
    return np.full(shape, rng.uniform(-0.6, -0.2), dtype=np.float32)


def with_noise(rng: np.random.Generator, pixels: Array) -> Array:
    pixels += NOISE * rng.standard_normal(pixels.shape, dtype=np.float32)
    return pixels
