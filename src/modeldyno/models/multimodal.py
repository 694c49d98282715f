"""Two modalities in one space, without writing text: CLIP, SigLIP, CLAP, X-CLIP."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.core.errors import Unsupported
from modeldyno.models._architecture import Entry, words
from modeldyno.models._images import channels, image_size, normal, pixels
from modeldyno.models._shapes import TINY_TOWER
from modeldyno.models._tokens import check_length, text_config, token_ids

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_TEXT_IMAGE = words(
    """aimv2 align altclip bridgetower chinese_clip clip clipseg flava groupvit metaclip_2 siglip
    vision-text-dual-encoder"""
)
_IMAGE_FAMILY = frozenset(["clip", "metaclip_2", "siglip", "siglip2"])
_LENGTHS = {"siglip": 64, "siglip2": 64, "clap": 77, "align": 64, "flava": 77}
_CLAP_FRAMES = 1001  # ten seconds at 48 kHz with a hop of 480, what the feature extractor makes of any sound

_TINY_TEXT = {**TINY_TOWER, "vocab_size": 1000}
_TINY_CLIP_TEXT = {**_TINY_TEXT, "eos_token_id": 999, "bos_token_id": 998}
_TINY_VISION = {**TINY_TOWER, "image_size": 64, "patch_size": 16}
_TINY_CLIP = {
    "model_type": "clip",
    "architectures": ["CLIPModel"],
    "text_config": _TINY_CLIP_TEXT,
    "vision_config": _TINY_VISION,
    "projection_dim": 32,
}
_CLIP_LARGE = {
    "model_type": "clip",
    "architectures": ["CLIPModel"],
    "text_config": {
        "hidden_size": 768,
        "intermediate_size": 3072,
        "num_attention_heads": 12,
        "projection_dim": 768,
    },
    "vision_config": {
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_hidden_layers": 24,
        "num_attention_heads": 16,
        "patch_size": 14,
        "projection_dim": 768,
    },
    "projection_dim": 768,
}
_TINY_CLAP = {
    "model_type": "clap",
    "architectures": ["ClapModel"],
    "projection_dim": 32,
    "text_config": {**_TINY_TEXT, "projection_dim": 32},
    "audio_config": {
        "num_mel_bins": 64,
        "spec_size": 256,
        "patch_size": 4,
        "patch_stride": [4, 4],
        "patch_embeds_hidden_size": 16,
        "depths": [1, 1, 1, 1],
        "num_attention_heads": [2, 2, 2, 2],
        "window_size": 8,
        "hidden_size": 128,
        "num_classes": 10,
        "projection_dim": 32,
        "enable_fusion": False,
    },
}
_TINY_XCLIP = {
    "model_type": "xclip",
    "architectures": ["XCLIPModel"],
    "projection_dim": 32,
    "prompt_num_attention_heads": 4,
    "text_config": _TINY_CLIP_TEXT,
    "vision_config": {
        **_TINY_VISION,
        "mit_hidden_size": 32,
        "mit_intermediate_size": 64,
        "mit_num_attention_heads": 2,
        "mit_num_hidden_layers": 1,
        "num_frames": 8,
    },
}


def _defaults(kind: str, class_name: str, **parts: Any) -> dict[str, Any]:
    """A published model whose shape is what transformers' own defaults say."""
    return {"model_type": kind, "architectures": [class_name], **parts}


class Multimodal:
    """Text with an image, video or sound in; how well they match out."""

    name = "multimodal"
    family = "multimodal"
    auto_class = "AutoModel"
    axes: Mapping[str, int] = {"seq": 77}
    model_types = (
        _TEXT_IMAGE
        | frozenset({"clap", "xclip"})
        | words("clvp grounding-dino lxmert owlv2 owlvit siglip2 tvp vilt visual_bert")
    )
    entries = (
        Entry("tiny-clip", _TINY_CLIP, "vision", 257_601, model_class="clip", tiny=True),
        Entry("tiny-clap", _TINY_CLAP, "audio", 487_146, model_class="clap", tiny=True),
        Entry("tiny-xclip", _TINY_XCLIP, "multimodal", 335_745, model_class="xclip", tiny=True),
        Entry(
            "clip-vit-base-patch32",
            _defaults("clip", "CLIPModel"),
            "vision",
            151_277_313,
            hf_id="openai/clip-vit-base-patch32",
            aliases=("clip",),
            model_class="clip",
        ),
        Entry(
            "clip-vit-large-patch14",
            _CLIP_LARGE,
            "vision",
            427_616_513,
            hf_id="openai/clip-vit-large-patch14",
            model_class="clip",
        ),
        Entry(
            "siglip-base-patch16-224",
            _defaults("siglip", "SiglipModel"),
            "vision",
            203_155_970,
            hf_id="google/siglip-base-patch16-224",
            aliases=("siglip",),
        ),
        Entry(
            "clap-htsat-unfused",
            _defaults("clap", "ClapModel", audio_config={"enable_fusion": False}),
            "audio",
            153_492_890,
            hf_id="laion/clap-htsat-unfused",
            aliases=("clap",),
            model_class="clap",
        ),
        Entry(
            "xclip-base-patch32",
            _defaults("xclip", "XCLIPModel"),
            "multimodal",
            196_585_729,
            hf_id="microsoft/xclip-base-patch32",
            aliases=("xclip",),
            model_class="xclip",
        ),
    )

    def family_of(self, model_type: str) -> str:
        if model_type in _IMAGE_FAMILY:
            return "vision"
        return "audio" if model_type in ("clap", "clvp") else "multimodal"

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]:
        return {"seq": _LENGTHS.get(str(config.get("model_type")), self.axes["seq"])}

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        kind = config.model_type
        if kind in _TEXT_IMAGE:
            vision = config.vision_config if hasattr(config, "vision_config") else config.image_config
            size = image_size(vision)
            return {**_text(config, batch, shape["seq"], rng), "pixel_values": pixels(vision, batch, size, rng)}
        if kind == "xclip":
            vision = config.vision_config
            video = (batch, vision.num_frames, channels(vision), *image_size(vision))
            return {**_text(config, batch, shape["seq"], rng), "pixel_values": normal(video, rng)}
        if kind == "clap":
            return {**_text(config, batch, shape["seq"], rng), **_sound(config.audio_config, batch, rng)}
        raise Unsupported(
            f"there is no recipe for the inputs of the multimodal model type '{kind}'",
            "export it to ONNX and give the .onnx file",
        )


def _text(config: Any, batch: int, length: int, rng: Rng) -> Arrays:
    import numpy as np

    text = text_config(config)
    check_length(text, length)
    ids = token_ids(text, batch, length, rng)
    end = getattr(text, "eos_token_id", None)
    if isinstance(end, int) and end < text.vocab_size:  # CLIP reads its text vector at the end token
        ids[:, -1] = end
    return {"input_ids": ids, "attention_mask": np.ones_like(ids)}


def _sound(config: Any, batch: int, rng: Rng) -> Arrays:
    import numpy as np

    views = 4 if config.enable_fusion else 1
    return {
        "input_features": normal((batch, views, _CLAP_FRAMES, config.num_mel_bins), rng),
        "is_longer": np.zeros((batch, 1), dtype=np.bool_),
    }


MEMBER = Multimodal()
