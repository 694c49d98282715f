"""Image inputs: pixels of the size that a configuration or the asked shape gives."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported

if TYPE_CHECKING:
    from modeldyno.models._architecture import Rng


def image_size(config: Any) -> tuple[int, int]:
    """Height and width that the configuration fixes."""
    size = getattr(config, "image_size", None)
    if isinstance(size, int):
        return size, size
    if isinstance(size, list | tuple) and len(size) == 2:
        return int(size[0]), int(size[1])
    raise Unsupported(
        f"the configuration of '{getattr(config, 'model_type', None)}' does not say its image size",
        "set image_size in its config.json",
    )


def asked_size(shape: Mapping[str, int]) -> tuple[int, int]:
    return shape["height"], shape["width"]


def channels(config: Any) -> int:
    return getattr(config, "num_channels", None) or 3


def normal(shape: tuple[int, ...], rng: Rng) -> Any:
    """Values distributed like normalised pixels or features."""
    import numpy as np

    return rng.standard_normal(shape, dtype=np.float32)


def pixels(config: Any, batch: int, size: tuple[int, int], rng: Rng) -> Any:
    return normal((batch, channels(config), *size), rng)
