"""Models outside the catalogue: a configuration alone is enough, for every way of making inputs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from modeldyno import models
from modeldyno.core.errors import Unsupported

TOWER = {"hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 128}
TEXT = {**TOWER, "vocab_size": 1000}
DECODER = {**TEXT, "num_key_value_heads": 2}
IMAGE = {**TOWER, "image_size": 56, "patch_size": 14}
GPT2 = {"model_type": "gpt2", "n_embd": 64, "n_layer": 2, "n_head": 4, "vocab_size": 1000}
MROPE = {"rope_type": "default", "rope_theta": 1e6, "mrope_section": [2, 3, 3]}
OPT = {
    "model_type": "opt",
    "hidden_size": 64,
    "word_embed_proj_dim": 64,
    "ffn_dim": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "vocab_size": 1000,
}
MLLAMA_VISION = {
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_global_layers": 1,
    "attention_heads": 4,
    "intermediate_size": 128,
    "vision_output_dim": 128,
    "image_size": 56,
    "intermediate_layers_indices": [0],
    "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1], [2, 2]],
}
MLLAMA_TEXT = {
    **DECODER,
    "cross_attention_layers": [1],
    "pad_token_id": 0,
    "bos_token_id": 1,
    "eos_token_id": 2,
    "rope_parameters": {"rope_type": "default", "rope_theta": 1e6},
}
QWEN_VISION = {
    "depth": 2,
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_heads": 4,
    "out_hidden_size": 64,
    "fullatt_block_indexes": [1],
    "window_size": 56,
}
QWEN_TOKENS = {"image_token_id": 999, "video_token_id": 998, "vision_start_token_id": 997, "vision_end_token_id": 996}

CONFIGS: list[tuple[dict[str, Any], str]] = [
    ({"model_type": "roberta", **TEXT, "max_position_embeddings": 514, "type_vocab_size": 1}, "last_hidden_state"),
    (GPT2, "logits"),
    ({"model_type": "t5", "architectures": ["T5EncoderModel"], "vocab_size": 1000, "d_model": 64, "d_kv": 16,
      "d_ff": 128, "num_layers": 2, "num_heads": 4}, "last_hidden_state"),
    ({"model_type": "resnet", "embedding_size": 16, "hidden_sizes": [16, 32], "depths": [1, 1]}, "pooler_output"),
    ({"model_type": "vit_mae", **IMAGE}, "last_hidden_state"),
    ({"model_type": "videomae", **TOWER, "image_size": 32, "patch_size": 16, "num_frames": 4}, "last_hidden_state"),
    ({"model_type": "wav2vec2-bert", **TOWER}, "last_hidden_state"),
    ({"model_type": "audio-spectrogram-transformer", **TOWER}, "last_hidden_state"),
    ({"model_type": "siglip", "text_config": {**TEXT, "eos_token_id": 2, "pad_token_id": 1, "bos_token_id": 0},
      "vision_config": IMAGE}, "logits_per_image"),
    ({"model_type": "git", **TEXT, "vision_config": IMAGE, "bos_token_id": 1, "eos_token_id": 2}, "logits"),
    ({"model_type": "vision-encoder-decoder", "architectures": ["VisionEncoderDecoderModel"],
      "encoder": {"model_type": "vit", **IMAGE},
      "decoder": {**GPT2, "is_decoder": True, "add_cross_attention": True}}, "logits"),
    ({"model_type": "paligemma", "text_config": {"model_type": "gemma", **DECODER, "head_dim": 16},
      "vision_config": {"model_type": "siglip_vision_model", **IMAGE, "vision_use_head": False},
      "image_token_index": 999, "projection_dim": 64}, "logits"),
    ({"model_type": "vipllava", "text_config": {"model_type": "llama", **DECODER}, "image_token_index": 999,
      "vision_config": {"model_type": "clip_vision_model", **IMAGE}, "vision_feature_layers": [-1, -2]}, "logits"),
    ({"model_type": "qwen2_5_vl", "text_config": {**DECODER, "rope_parameters": MROPE},
      "vision_config": QWEN_VISION, **QWEN_TOKENS}, "logits"),
    ({"model_type": "blip-2", "text_config": OPT, "vision_config": IMAGE, "image_token_index": 999,
      "num_query_tokens": 4, "qformer_config": {**TOWER, "encoder_hidden_size": 64}}, "logits"),
    ({"model_type": "mllama", "text_config": MLLAMA_TEXT, "vision_config": MLLAMA_VISION,
      "image_token_index": 1000}, "logits"),
    ({"model_type": "mamba2", "hidden_size": 64, "num_hidden_layers": 2, "num_heads": 8, "head_dim": 16,
      "state_size": 16, "n_groups": 1, "vocab_size": 1000, "chunk_size": 16}, "logits"),
    ({"model_type": "qwen3_moe", **DECODER, "num_experts": 4, "num_experts_per_tok": 2,
      "moe_intermediate_size": 32, "head_dim": 16}, "logits"),
    ({"_class_name": "DiTTransformer2DModel", "num_attention_heads": 2, "attention_head_dim": 8, "num_layers": 2,
      "in_channels": 4, "out_channels": 8, "sample_size": 8, "num_embeds_ada_norm": 10, "norm_num_groups": 4},
     "sample"),
]  # fmt: skip


def saved(folder: Path, config: dict[str, Any]) -> models.ModelSpec:
    (folder / "config.json").write_text(json.dumps(config))
    return models.resolve(str(folder))


@pytest.mark.parametrize(
    ("config", "output"), CONFIGS, ids=lambda v: v.get("model_type") if isinstance(v, dict) else ""
)
def test_a_configuration_is_enough(config: dict[str, Any], output: str, tmp_path: Path) -> None:
    source = models.prepare(saved(tmp_path, config), 2)
    assert output in source.reference().values
    assert source.info.gflop is not None


@pytest.mark.parametrize("model_type", ["vits", "lxmert", "idefics3"])
def test_a_model_without_a_recipe_is_unsupported_with_a_way_out(model_type: str, tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"no recipe for the inputs .*'; export it to ONNX"):
        models.prepare(saved(tmp_path, {"model_type": model_type}))


def test_a_catalogue_model_takes_its_checkpoint_from_the_cache(tmp_path: Path) -> None:
    model = models.prepare(models.resolve("bert-tiny")).torch_model().module
    folder = tmp_path / "hub" / "models--prajjwal1--bert-tiny" / "snapshots" / "abc"
    model.save_pretrained(folder)
    info = models.prepare(models.resolve("bert-tiny")).info
    assert (info.weights, info.source, info.parameters) == ("pretrained", "prajjwal1/bert-tiny", 4_416_698)
