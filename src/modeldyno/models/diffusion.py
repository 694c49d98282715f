"""The denoising step of image generators, such as the UNet of Stable Diffusion and DiT."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.models._architecture import Entry
from modeldyno.models._images import normal

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_TEXT_GUIDED = frozenset({"UNet2DConditionModel"})
_STEPS = 1000  # of the noise schedule that these models are trained with

_SD_1_5 = {
    "_class_name": "UNet2DConditionModel",
    "sample_size": 64,
    "in_channels": 4,
    "out_channels": 4,
    "down_block_types": ["CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D", "CrossAttnUpBlock2D"],
    "block_out_channels": [320, 640, 1280, 1280],
    "layers_per_block": 2,
    "cross_attention_dim": 768,
    "attention_head_dim": 8,
}
_TINY_UNET = {
    "_class_name": "UNet2DConditionModel",
    "sample_size": 16,
    "in_channels": 4,
    "out_channels": 4,
    "down_block_types": ["CrossAttnDownBlock2D", "DownBlock2D"],
    "up_block_types": ["UpBlock2D", "CrossAttnUpBlock2D"],
    "block_out_channels": [16, 32],
    "layers_per_block": 1,
    "norm_num_groups": 8,
    "cross_attention_dim": 32,
    "attention_head_dim": 4,
}
_DIT_XL_2_256 = {
    "_class_name": "DiTTransformer2DModel",
    "num_attention_heads": 16,
    "attention_head_dim": 72,
    "num_layers": 28,
    "in_channels": 4,
    "out_channels": 8,
    "sample_size": 32,
    "patch_size": 2,
    "num_embeds_ada_norm": 1000,
}


class Diffusion:
    """Noise and a condition in, the noise to take away out."""

    name = "diffusion"
    family = "vision"
    auto_class = ""  # a diffusers configuration always names its class
    axes: Mapping[str, int] = {}
    model_types: frozenset[str] = frozenset()  # told by `_class_name`
    entries = (
        Entry("tiny-unet", _TINY_UNET, "vision", 203_204, tiny=True),
        Entry(
            "stable-diffusion-v1-5",
            _SD_1_5,
            "vision",
            859_520_964,
            hf_id="stable-diffusion-v1-5/stable-diffusion-v1-5",
            aliases=("stable-diffusion", "runwayml/stable-diffusion-v1-5"),
        ),
        Entry("DiT-XL-2-256", _DIT_XL_2_256, "vision", 749_826_464, hf_id="facebook/DiT-XL-2-256"),
    )

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]:
        return {"seq": 77} if config.get("_class_name") in _TEXT_GUIDED else {}

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        kind = config["_class_name"]
        if kind in ("UNet2DModel", "UNet2DConditionModel"):
            extra = {"encoder_hidden_states": _text(config, batch, shape, rng)} if "seq" in shape else {}
            return {"sample": _latent(config, batch, rng), "timestep": _timestep(batch, rng), **extra}
        if kind == "DiTTransformer2DModel":
            return _dit_inputs(config, batch, rng)
        raise Unsupported(
            f"there is no recipe for the inputs of the diffusers class '{kind}'",
            "export it to ONNX and give the .onnx file",
        )


def _latent(config: Any, batch: int, rng: Rng) -> Any:
    size = config["sample_size"]
    height, width = (size, size) if isinstance(size, int) else size
    return normal((batch, config["in_channels"], height, width), rng)


def _timestep(batch: int, rng: Rng) -> Any:
    import numpy as np

    return rng.integers(0, _STEPS, (batch,), dtype=np.int64)


def _text(config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Any:
    return normal((batch, shape["seq"], config["cross_attention_dim"]), rng)


def _dit_inputs(config: Any, batch: int, rng: Rng) -> Arrays:
    import numpy as np

    return {
        "hidden_states": _latent(config, batch, rng),
        "timestep": _timestep(batch, rng),
        "class_labels": rng.integers(0, config["num_embeds_ada_norm"], (batch,), dtype=np.int64),
    }


MEMBER = Diffusion()
