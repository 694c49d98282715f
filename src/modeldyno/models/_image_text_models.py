"""The catalogue of models that read an image and write text."""

from __future__ import annotations

from typing import Any

from modeldyno.models._architecture import Entry
from modeldyno.models._shapes import (
    CLIP_VISION_L_336,
    SIGLIP_VISION_SO400M_384,
    TINY_CLIP_VISION,
    TINY_GQA,
    TINY_SIGLIP_VISION,
    qwen2_text,
)

_TINY_TEXT = {"model_type": "qwen2", **TINY_GQA}
_QWEN2_0_5B = {"model_type": "qwen2", **qwen2_text("0.5B")}
_VICUNA_7B = {"model_type": "llama", "vocab_size": 32064, "max_position_embeddings": 4096, "rms_norm_eps": 1e-5}
_MISTRAL_7B = {
    "model_type": "mistral",
    "vocab_size": 32064,
    "max_position_embeddings": 32768,
    "rms_norm_eps": 1e-5,
    "sliding_window": None,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1000000.0},
}


def _llava(vision: dict[str, Any], text: dict[str, Any], image_token: int, tied: bool) -> dict[str, Any]:
    return {
        "model_type": "llava",
        "architectures": ["LlavaForConditionalGeneration"],
        "vision_config": vision,
        "text_config": text,
        "image_token_index": image_token,
        "vision_feature_layer": -2,
        "vision_feature_select_strategy": "default",
        "tie_word_embeddings": tied,
    }


def _pinpoints(unit: int, pairs: list[tuple[int, int]]) -> list[list[int]]:
    return [[unit * rows, unit * columns] for rows, columns in pairs]


_NEXT_TILINGS = [(1, 2), (2, 1), (2, 2), (3, 1), (1, 3)]
_ONEVISION_TILINGS = [(rows, columns) for rows in range(1, 7) for columns in range(1, 7)]


def _llava_next(vision: dict[str, Any], text: dict[str, Any], image_token: int, tied: bool) -> dict[str, Any]:
    return {
        **_llava(vision, text, image_token, tied),
        "model_type": "llava_next",
        "architectures": ["LlavaNextForConditionalGeneration"],
        "image_grid_pinpoints": _pinpoints(vision["image_size"], _NEXT_TILINGS),
    }


def _llava_onevision(
    vision: dict[str, Any], text: dict[str, Any], tokens: tuple[int, int], tied: bool
) -> dict[str, Any]:
    return {
        "model_type": "llava_onevision",
        "architectures": ["LlavaOnevisionForConditionalGeneration"],
        "vision_config": vision,
        "text_config": text,
        "image_token_index": tokens[0],
        "video_token_index": tokens[1],
        "image_grid_pinpoints": _pinpoints(vision["image_size"], _ONEVISION_TILINGS),
        "vision_aspect_ratio": "anyres_max_9",
        "vision_feature_layer": -1,
        "vision_feature_select_strategy": "full",
        "tie_word_embeddings": tied,
    }


def _qwen2_vl(
    text: dict[str, Any], vision: dict[str, Any], sections: list[int], tokens: range, tied: bool
) -> dict[str, Any]:
    rope = {"rope_type": "default", "rope_theta": 1000000.0, "mrope_section": sections}
    return {
        "model_type": "qwen2_vl",
        "architectures": ["Qwen2VLForConditionalGeneration"],
        "text_config": {**text, "rope_parameters": rope},
        "vision_config": vision,
        "vision_start_token_id": tokens[0],
        "vision_end_token_id": tokens[1],
        "image_token_id": tokens[3],
        "video_token_id": tokens[4],
        "tie_word_embeddings": tied,
    }


_TINY_QWEN2_VL_VISION = {"depth": 2, "embed_dim": 64, "hidden_size": 64, "num_heads": 4, "mlp_ratio": 2}
_QWEN2_VL_2B_VISION = {"depth": 32, "embed_dim": 1280, "hidden_size": 1536, "num_heads": 16, "mlp_ratio": 4}
_BLIP2_OPT_2_7B = {
    "model_type": "blip-2",
    "architectures": ["Blip2ForConditionalGeneration"],
    "image_token_index": 50265,
    "text_config": {
        "model_type": "opt",
        "vocab_size": 50304,
        "hidden_size": 2560,
        "word_embed_proj_dim": 2560,
        "ffn_dim": 10240,
        "num_hidden_layers": 32,
        "num_attention_heads": 32,
    },
}
_LLAMA_3_2_11B_VISION = {
    "model_type": "mllama",
    "architectures": ["MllamaForConditionalGeneration"],
    "vision_config": {
        "image_size": 448,
        "intermediate_layers_indices": [3, 7, 15, 23, 30],
        "supported_aspect_ratios": [[1, 1], [1, 2], [1, 3], [1, 4], [2, 1], [2, 2], [3, 1], [4, 1]],
    },
    "text_config": {"cross_attention_layers": [3, 8, 13, 18, 23, 28, 33, 38]},
}


def _entry(
    name: str, kind: str | None, config: dict[str, Any], parameters: int, hf_id: str | None = None, **more: Any
) -> Entry:
    return Entry(name, config, "multimodal", parameters, hf_id=hf_id, model_class=kind, **more)


ENTRIES = (
    _entry("tiny-llava", "llava", _llava(TINY_CLIP_VISION, _TINY_TEXT, 999, False), 316_608, tiny=True),
    _entry("tiny-llava-next", "llava-next", _llava_next(TINY_CLIP_VISION, _TINY_TEXT, 999, False), 316_672, tiny=True),
    _entry(
        "tiny-llava-onevision",
        "llava",
        _llava_onevision(TINY_SIGLIP_VISION, _TINY_TEXT, (999, 998), False),
        316_480,
        tiny=True,
    ),
    _entry(
        "tiny-qwen2-vl",
        "qwen",
        _qwen2_vl(TINY_GQA, _TINY_QWEN2_VL_VISION, [2, 3, 3], range(990, 1000), False),
        426_880,
        tiny=True,
        axes={"seq": 32, "image": 112},
    ),
    # No LLaVA with a CLIP tower is published below 7B; this joins two published parts and says so in its name.
    _entry("llava-clip-l-qwen2-0.5b", "llava", _llava(CLIP_VISION_L_336, _QWEN2_0_5B, 151646, True), 799_262_336),
    _entry(
        "llava-next-clip-l-qwen2-0.5b",
        "llava-next",
        _llava_next(CLIP_VISION_L_336, _QWEN2_0_5B, 151646, True),
        799_263_232,
    ),
    _entry(
        "llava-1.5-7b-hf",
        "llava",
        _llava(CLIP_VISION_L_336, _VICUNA_7B, 32000, False),
        7_063_427_072,
        "llava-hf/llava-1.5-7b-hf",
        aliases=("llava", "llava-1.5-7b"),
    ),
    _entry(
        "llava-v1.6-mistral-7b-hf",
        "llava-next",
        _llava_next(CLIP_VISION_L_336, _MISTRAL_7B, 32000, False),
        7_566_747_648,
        "llava-hf/llava-v1.6-mistral-7b-hf",
        aliases=("llava-next",),
    ),
    _entry(
        "llava-onevision-qwen2-0.5b-ov-hf",
        "llava",
        _llava_onevision(SIGLIP_VISION_SO400M_384, _QWEN2_0_5B, (151646, 151647), True),
        893_618_208,
        "llava-hf/llava-onevision-qwen2-0.5b-ov-hf",
        aliases=("llava-onevision",),
    ),
    _entry(
        "Qwen2-VL-2B",
        "qwen",
        _qwen2_vl(qwen2_text("1.5B"), _QWEN2_VL_2B_VISION, [16, 24, 24], range(151652, 151657), True),
        2_208_985_600,
        "Qwen/Qwen2-VL-2B",
        aliases=("qwen2-vl", "qwen2_vl", "Qwen/Qwen2-VL-2B-Instruct", "Qwen2-VL-2B-Instruct"),
    ),
    _entry("blip2-opt-2.7b", None, _BLIP2_OPT_2_7B, 3_744_761_856, "Salesforce/blip2-opt-2.7b", aliases=("blip2",)),
    _entry(
        "Llama-3.2-11B-Vision",
        None,
        _LLAMA_3_2_11B_VISION,
        10_642_941_475,
        "meta-llama/Llama-3.2-11B-Vision",
        aliases=("llama-3.2-vision",),
    ),
)
