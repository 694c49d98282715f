"""Models that route each token to a few of many experts, such as Switch Transformers and Mixtral."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry, words
from modeldyno.models._shapes import TINY_GQA
from modeldyno.models._tokens import seq2seq_inputs, text_config, text_inputs

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_WITH_ENCODER = frozenset({"switch_transformers", "nllb-moe"})


def _switch(**overrides: Any) -> dict[str, Any]:
    return {
        "model_type": "switch_transformers",
        "architectures": ["SwitchTransformersForConditionalGeneration"],
        "decoder_start_token_id": 0,
        **overrides,
    }


_SWITCH_BASE_8 = _switch(
    vocab_size=32128,
    d_model=768,
    d_kv=64,
    d_ff=3072,
    num_layers=12,
    num_decoder_layers=12,
    num_sparse_encoder_layers=6,
    num_sparse_decoder_layers=6,
    num_heads=12,
    num_experts=8,
)
_TINY_SWITCH = _switch(
    vocab_size=1000,
    d_model=64,
    d_kv=16,
    d_ff=128,
    num_layers=2,
    num_decoder_layers=2,
    num_sparse_encoder_layers=1,
    num_sparse_decoder_layers=1,
    num_heads=4,
    num_experts=4,
)
_MIXTRAL_8X7B = {
    "model_type": "mixtral",
    "architectures": ["MixtralForCausalLM"],
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 14336,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "max_position_embeddings": 32768,
}
_TINY_MIXTRAL = {**_MIXTRAL_8X7B, **TINY_GQA, "num_local_experts": 4}
_OLMOE = {
    "model_type": "olmoe",
    "architectures": ["OlmoeForCausalLM"],
    "vocab_size": 50304,
    "hidden_size": 2048,
    "intermediate_size": 1024,
    "num_hidden_layers": 16,
    "num_attention_heads": 16,
    "num_experts": 64,
    "num_experts_per_tok": 8,
    "max_position_embeddings": 4096,
}


def _entry(name: str, config: dict[str, Any], parameters: int, hf_id: str | None = None, **more: Any) -> Entry:
    return Entry(name, config, "text_generation", parameters, hf_id=hf_id, **more)


class MixtureOfExperts:
    """Text in, text out, through experts that a router picks token by token."""

    name = "mixture-of-experts"
    family = "text_generation"
    auto_class = "AutoModelForCausalLM"
    axes: Mapping[str, int] = {"seq": 128}
    model_types = _WITH_ENCODER | words(
        """afmoe cohere2_moe dbrx deepseek_v2 deepseek_v3 deepseek_v32 deepseek_v4 dots1 ernie4_5_moe exaone_moe
        flex_olmo glm4_moe glm4_moe_lite glm_moe_dsa gpt_oss granitemoe granitemoeshared hunyuan_v1_moe jetmoe
        lfm2_moe llama4_text longcat_flash mimo_v2_flash minimax minimax_m2 mixtral olmoe phimoe qwen2_moe
        qwen3_moe qwen3_5_moe_text qwen3_next solar_open"""
    )
    entries = (
        _entry("tiny-switch", _TINY_SWITCH, 327_680, tiny=True),
        _entry("tiny-mixtral", _TINY_MIXTRAL, 350_016, tiny=True),
        _entry("switch-base-8", _SWITCH_BASE_8, 619_339_008, "google/switch-base-8"),
        _entry("OLMoE-1B-7B-0924", _OLMOE, 6_919_161_856, "allenai/OLMoE-1B-7B-0924"),
        _entry("Mixtral-8x7B-v0.1", _MIXTRAL_8X7B, 46_702_792_704, "mistralai/Mixtral-8x7B-v0.1", aliases=("mixtral",)),
    )

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]:
        extra = {"decoder_seq": 8} if config.get("model_type") in _WITH_ENCODER else {}
        return {**self.axes, **extra}

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        if config.model_type in _WITH_ENCODER:
            return seq2seq_inputs(config, batch, shape, rng)
        return text_inputs(text_config(config), batch, shape["seq"], rng)


MEMBER = MixtureOfExperts()
