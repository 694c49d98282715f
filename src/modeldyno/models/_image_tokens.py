"""How many tokens an image becomes in a language model: the arithmetic of the models' own processors."""

from __future__ import annotations

import math
from typing import Any


def grid_side(vision: Any) -> int:
    """Patches along one side of a square image."""
    return int(vision.image_size) // int(vision.patch_size)


def llava_tokens(config: Any) -> int:
    side = grid_side(config.vision_config)
    class_token = 1 if _keeps_class_token(config) else 0
    return side * side + class_token


def _keeps_class_token(config: Any) -> bool:
    has_one = bool(config.vision_config.model_type == "clip_vision_model")
    return has_one and getattr(config, "vision_feature_select_strategy", "default") == "full"


def best_resolution(size: tuple[int, int], choices: list[list[int]]) -> tuple[int, int]:
    """The tiling that keeps most of the image and wastes least (LLaVA-NeXT's `select_best_resolution`)."""
    height, width = size

    def merit(choice: list[int]) -> tuple[int, int]:
        scale = min(choice[1] / width, choice[0] / height)
        kept = min(int(width * scale) * int(height * scale), height * width)
        return kept, kept - choice[0] * choice[1]

    chosen = max(choices, key=merit)
    return chosen[0], chosen[1]


def tiles(config: Any, size: tuple[int, int]) -> int:
    """Tiles of an image, with the overview that always comes first."""
    unit = int(config.vision_config.image_size)
    height, width = best_resolution(size, config.image_grid_pinpoints)
    return (height // unit) * (width // unit) + 1


def anyres_tokens(config: Any, size: tuple[int, int]) -> int:
    """Tokens of a tiled image: padding is cut off again, each row ends in a newline token."""
    side = grid_side(config.vision_config)
    unit = int(config.vision_config.image_size)
    best = best_resolution(size, config.image_grid_pinpoints)
    rows, columns = _unpadded(size, side * (best[0] // unit), side * (best[1] // unit))
    rows, columns = _shrunk(rows, columns, side, getattr(config, "vision_aspect_ratio", None))
    return rows * columns + rows + llava_tokens(config)


def _unpadded(size: tuple[int, int], rows: int, columns: int) -> tuple[int, int]:
    height, width = size
    if width / height > columns / rows:
        wanted = int(round(height * (columns / width), 7))
        return rows - 2 * ((rows - wanted) // 2), columns
    wanted = int(round(width * (rows / height), 7))
    return rows, columns - 2 * ((columns - wanted) // 2)


def _shrunk(rows: int, columns: int, side: int, aspect: str | None) -> tuple[int, int]:
    """LLaVA-OneVision scales down what exceeds its number of tiles."""
    if not aspect:
        return rows, columns
    most = int(aspect.removeprefix("anyres_max_"))
    ratio = math.sqrt(rows * columns / (most * side**2))
    return (int(rows // ratio), int(columns // ratio)) if ratio > 1.1 else (rows, columns)
