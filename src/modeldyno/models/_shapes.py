"""Published shapes that several architectures share as a part."""

from __future__ import annotations

from typing import Any

TINY_GQA: dict[str, Any] = {
    "vocab_size": 1000,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "intermediate_size": 128,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": 2048,
}
"""A decoder with grouped-query attention, small enough for a test."""

TINY_TOWER: dict[str, Any] = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 128,
}
"""Two layers of a transformer, for either modality."""

# hidden size, intermediate size, layers, heads, key-value heads, vocabulary, tied embeddings
_QWEN2 = {
    "0.5B": (896, 4864, 24, 14, 2, 151936, True),
    "1.5B": (1536, 8960, 28, 12, 2, 151936, True),
    "7B": (3584, 18944, 28, 28, 4, 152064, False),
}


def qwen2_text(size: str) -> dict[str, Any]:
    hidden, intermediate, layers, heads, kv_heads, vocabulary, tied = _QWEN2[size]
    return {
        "vocab_size": vocabulary,
        "hidden_size": hidden,
        "intermediate_size": intermediate,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        "num_key_value_heads": kv_heads,
        "max_position_embeddings": 32768 if size == "0.5B" else 131072,
        "tie_word_embeddings": tied,
        "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
    }


CLIP_VISION_L_336: dict[str, Any] = {
    "model_type": "clip_vision_model",
    "hidden_size": 1024,
    "intermediate_size": 4096,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "image_size": 336,
    "patch_size": 14,
    "projection_dim": 768,
}
SIGLIP_VISION_SO400M_384: dict[str, Any] = {
    "model_type": "siglip_vision_model",
    "hidden_size": 1152,
    "intermediate_size": 4304,
    "num_hidden_layers": 26,
    "num_attention_heads": 16,
    "image_size": 384,
    "patch_size": 14,
    "vision_use_head": False,
}
TINY_CLIP_VISION: dict[str, Any] = {"model_type": "clip_vision_model", **TINY_TOWER, "image_size": 56, "patch_size": 14}
TINY_SIGLIP_VISION: dict[str, Any] = {**TINY_CLIP_VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
BART_LARGE: dict[str, Any] = {"model_type": "bart", "vocab_size": 50265}
"""The defaults of transformers' BartConfig are those of bart-large."""
