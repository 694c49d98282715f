"""Inputs of models that read an image and write text, one recipe per way of joining the two."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.models._image_tokens import anyres_tokens, llava_tokens, tiles
from modeldyno.models._images import channels, image_size, normal, pixels
from modeldyno.models._tokens import check_length, decoder_token_ids, position_limit, text_config, token_ids

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

    Recipe = Callable[[Any, int, Mapping[str, int], Rng], Arrays]

LEAD = 2
"""Text tokens before the image; the rest of the prompt follows it."""


def image_text_inputs(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    recipe = RECIPES.get(config.model_type)
    if recipe is None:
        raise Unsupported(
            f"there is no recipe for the inputs of the image-and-text model type '{config.model_type}'",
            "export it to ONNX and give the .onnx file",
        )
    return recipe(config, batch, shape, rng)


def _prompt(config: Any, batch: int, length: int, middle: list[int], rng: Rng) -> Arrays:
    """A prompt of `length` text tokens with `middle`, the image's tokens, after the first few."""
    import numpy as np

    text = text_config(config)
    _check_prompt(text, length, len(middle))
    ids = token_ids(text, batch, length, rng, specials=middle)
    image = np.tile(np.array(middle, dtype=np.int64), (batch, 1))
    whole = np.concatenate([ids[:, :LEAD], image, ids[:, LEAD:]], axis=1)
    return {"input_ids": whole, "attention_mask": np.ones_like(whole)}


def _check_prompt(text: Any, length: int, image_tokens: int) -> None:
    limit = position_limit(text)
    room = None if limit is None else limit - image_tokens
    if length < LEAD + 1 or (room is not None and length > room):
        raise Unsupported(
            f"seq={length} does not fit: with {image_tokens} tokens of image this model takes {LEAD + 1} to {room}",
            f"ask for seq between {LEAD + 1} and {room}",
        )


def _llava(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    vision = config.vision_config
    tokens = [config.image_token_id] * llava_tokens(config)
    image = pixels(vision, batch, image_size(vision), rng)
    return {**_prompt(config, batch, shape["seq"], tokens, rng), "pixel_values": image}


def _tiled(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    import numpy as np

    vision = config.vision_config
    size = image_size(vision)
    tokens = [config.image_token_id] * anyres_tokens(config, size)
    image = normal((batch, tiles(config, size), channels(vision), *size), rng)
    return {
        **_prompt(config, batch, shape["seq"], tokens, rng),
        "pixel_values": image,
        "image_sizes": np.array([size] * batch, dtype=np.int64),
    }


def _qwen_vl(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    import numpy as np

    vision = config.vision_config
    side = shape["image"] // vision.patch_size
    unit = vision.patch_size * vision.spatial_merge_size
    if side < vision.spatial_merge_size or shape["image"] % unit:
        raise Unsupported(f"image={shape['image']} is not a multiple of {unit} pixels", f"ask for image={8 * unit}")
    merged = (side // vision.spatial_merge_size) ** 2
    tokens = [config.vision_start_token_id, *[config.image_token_id] * merged, config.vision_end_token_id]
    prompt = _prompt(config, batch, shape["seq"], tokens, rng)
    patch = (getattr(vision, "in_channels", 3) or 3) * vision.temporal_patch_size * vision.patch_size**2
    return {
        **prompt,
        "pixel_values": normal((batch * side * side, patch), rng),
        "image_grid_thw": np.array([[1, side, side]] * batch, dtype=np.int64),
        "mm_token_type_ids": (prompt["input_ids"] == config.image_token_id).astype(np.int64),
    }


def _blip_2(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    vision = config.vision_config
    if config.image_token_id is None:
        raise Unsupported("this BLIP-2 configuration names no image token", "set image_token_index in its config.json")
    tokens = [config.image_token_id] * config.num_query_tokens
    image = pixels(vision, batch, image_size(vision), rng)
    return {"pixel_values": image, **_prompt(config, batch, shape["seq"], tokens, rng)}


def _mllama(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    import numpy as np

    vision = config.vision_config
    count = vision.max_num_tiles
    prompt = _prompt(config, batch, shape["seq"], [config.image_token_id], rng)
    length = prompt["input_ids"].shape[1]
    # The last aspect ratio of the list is the one that fills all tiles.
    return {
        **prompt,
        "pixel_values": normal((batch, 1, count, channels(vision), *image_size(vision)), rng),
        "aspect_ratio_ids": np.full((batch, 1), len(vision.supported_aspect_ratios), dtype=np.int64),
        "aspect_ratio_mask": np.ones((batch, 1, count), dtype=np.int64),
        "cross_attention_mask": np.ones((batch, length, 1, count), dtype=np.int64),
    }


def _separate(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    """Models that keep a place of their own for the image, so that the prompt holds text alone."""
    import numpy as np

    text = text_config(config)
    check_length(text, shape["seq"])
    ids = token_ids(text, batch, shape["seq"], rng)
    image = pixels(config.vision_config, batch, image_size(config.vision_config), rng)
    return {"pixel_values": image, "input_ids": ids, "attention_mask": np.ones_like(ids)}


def _encoder_decoder(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
    image = pixels(config.encoder, batch, image_size(config.encoder), rng)
    ids = decoder_token_ids(config.decoder, batch, shape["decoder_seq"], rng)
    return {"pixel_values": image, "decoder_input_ids": ids}


RECIPES: Mapping[str, Recipe] = {
    "llava": _llava,
    "vipllava": _llava,
    "paligemma": _llava,
    "llava_next": _tiled,
    "llava_onevision": _tiled,
    "qwen2_vl": _qwen_vl,
    "qwen2_5_vl": _qwen_vl,
    "blip-2": _blip_2,
    "mllama": _mllama,
    "git": _separate,
    "blip": _separate,
    "vision-encoder-decoder": _encoder_decoder,
}
