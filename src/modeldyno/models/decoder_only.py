"""Decoders of text, such as LLaMA, OPT and Qwen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry, words
from modeldyno.models._shapes import TINY_GQA, qwen2_text
from modeldyno.models._tokens import text_config, text_inputs

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng


def _opt(hidden: int, layers: int, heads: int, **overrides: Any) -> dict[str, Any]:
    return {
        "model_type": "opt",
        "architectures": ["OPTForCausalLM"],
        "vocab_size": 50272,
        "hidden_size": hidden,
        "word_embed_proj_dim": hidden,
        "ffn_dim": 4 * hidden,
        "num_hidden_layers": layers,
        "num_attention_heads": heads,
        **overrides,
    }


def _llama(**overrides: Any) -> dict[str, Any]:
    return {"model_type": "llama", "architectures": ["LlamaForCausalLM"], **overrides}


def _qwen2(**text: Any) -> dict[str, Any]:
    return {"model_type": "qwen2", "architectures": ["Qwen2ForCausalLM"], **text}


def _qwen3(**text: Any) -> dict[str, Any]:
    return {"model_type": "qwen3", "architectures": ["Qwen3ForCausalLM"], **text}


_LLAMA_7B = {
    "vocab_size": 32000,
    "hidden_size": 4096,
    "intermediate_size": 11008,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
}
_LLAMA_13B = _LLAMA_7B | {
    "hidden_size": 5120,
    "intermediate_size": 13824,
    "num_hidden_layers": 40,
    "num_attention_heads": 40,
}
_LLAMA_2_70B = _LLAMA_7B | {
    "hidden_size": 8192,
    "intermediate_size": 28672,
    "num_hidden_layers": 80,
    "num_attention_heads": 64,
    "num_key_value_heads": 8,
}
_MISTRAL_7B = _LLAMA_7B | {
    "model_type": "mistral",
    "architectures": ["MistralForCausalLM"],
    "intermediate_size": 14336,
    "num_key_value_heads": 8,
    "max_position_embeddings": 32768,
    "sliding_window": 4096,
    "rms_norm_eps": 1e-5,
}
_GPT2 = {"model_type": "gpt2", "architectures": ["GPT2LMHeadModel"]}
_SMOLLM = _llama(
    vocab_size=49152,
    hidden_size=576,
    intermediate_size=1536,
    num_hidden_layers=30,
    num_attention_heads=9,
    num_key_value_heads=3,
    max_position_embeddings=2048,
    tie_word_embeddings=True,
)
_LLAMA_3_2_1B = _llama(
    vocab_size=128256,
    hidden_size=2048,
    intermediate_size=8192,
    num_hidden_layers=16,
    num_attention_heads=32,
    num_key_value_heads=8,
    head_dim=64,
    max_position_embeddings=131072,
    rms_norm_eps=1e-5,
    tie_word_embeddings=True,
    rope_parameters={
        "rope_type": "llama3",
        "rope_theta": 500000.0,
        "factor": 32.0,
        "high_freq_factor": 4.0,
        "low_freq_factor": 1.0,
        "original_max_position_embeddings": 8192,
    },
)
_QWEN3_0_6B = _qwen3(
    vocab_size=151936,
    hidden_size=1024,
    intermediate_size=3072,
    num_hidden_layers=28,
    num_attention_heads=16,
    num_key_value_heads=8,
    head_dim=128,
    max_position_embeddings=40960,
    tie_word_embeddings=True,
    rope_parameters={"rope_type": "default", "rope_theta": 1000000.0},
)


def _entry(name: str, config: dict[str, Any], parameters: int, hf_id: str | None = None, **more: Any) -> Entry:
    return Entry(name, config, "text_generation", parameters, hf_id=hf_id, **more)


class DecoderOnly:
    """Text in, the next token's scores out."""

    name = "decoder-only"
    family = "text_generation"
    auto_class = "AutoModelForCausalLM"
    axes: Mapping[str, int] = {"seq": 128}
    model_types = words(
        """apertus arcee bert-generation biogpt bitnet bloom blt code_llama codegen cohere cohere2 cpmant ctrl
        cwm diffllama doge ernie4_5 exaone4 falcon gemma gemma2 gemma3_text gemma3n_text gemma4_text glm glm4
        gpt-sw3 gpt2 gpt_bigcode gpt_neo gpt_neox gpt_neox_japanese gptj granite helium hunyuan_v1_dense
        hyperclovax jais2 lfm2 llama minicpm3 ministral ministral3 mistral modernbert-decoder mpt nanochat
        nemotron olmo olmo2 olmo3 openai-gpt opt persimmon phi phi3 qwen2 qwen3 seed_oss smollm3 stablelm
        starcoder2 vaultgemma xglm xlnet youtu mllama_text_model qwen2_vl_text qwen2_5_vl_text qwen3_vl_text"""
    )
    entries = (
        _entry(
            "tiny-opt",
            _opt(64, 2, 4, vocab_size=1000, ffn_dim=128, max_position_embeddings=512),
            163_968,
            model_class="llama",
            tiny=True,
        ),
        _entry("tiny-llama", _llama(**TINY_GQA), 202_048, model_class="llama", tiny=True),
        _entry("tiny-qwen2", _qwen2(**TINY_GQA), 202_304, model_class="qwen", tiny=True),
        _entry("tiny-qwen3", _qwen3(**TINY_GQA, head_dim=16), 202_112, model_class="qwen", tiny=True),
        _entry("opt-125m", _opt(768, 12, 12), 125_239_296, "facebook/opt-125m", aliases=("opt",), model_class="llama"),
        _entry("opt-1.3b", _opt(2048, 24, 32), 1_315_758_080, "facebook/opt-1.3b", model_class="llama"),
        _entry("opt-6.7b", _opt(4096, 32, 32), 6_658_473_984, "facebook/opt-6.7b", model_class="llama"),
        _entry("SmolLM-135M", _SMOLLM, 134_515_008, "HuggingFaceTB/SmolLM-135M", model_class="llama"),
        _entry("Llama-3.2-1B", _LLAMA_3_2_1B, 1_235_814_400, "meta-llama/Llama-3.2-1B", model_class="llama"),
        _entry(
            "llama-7b",
            _llama(**_LLAMA_7B, max_position_embeddings=2048),
            6_738_415_616,
            "huggyllama/llama-7b",
            aliases=("llama",),
            model_class="llama",
        ),
        _entry(
            "Llama-2-7b-hf",
            _llama(**_LLAMA_7B, max_position_embeddings=4096, rms_norm_eps=1e-5),
            6_738_415_616,
            "meta-llama/Llama-2-7b-hf",
            aliases=("Llama-2-7b",),
            model_class="llama",
        ),
        _entry(
            "llama-13b",
            _llama(**_LLAMA_13B, max_position_embeddings=2048),
            13_015_864_320,
            "huggyllama/llama-13b",
            model_class="llama",
        ),
        _entry(
            "Llama-2-70b-hf",
            _llama(**_LLAMA_2_70B, max_position_embeddings=4096, rms_norm_eps=1e-5),
            68_976_648_192,
            "meta-llama/Llama-2-70b-hf",
            aliases=("Llama-2-70b", "llama-70b"),
            model_class="llama",
        ),
        _entry("Mistral-7B-v0.1", _MISTRAL_7B, 7_241_732_096, "mistralai/Mistral-7B-v0.1", aliases=("mistral-7b",)),
        _entry(
            "Qwen2-0.5B",
            _qwen2(**qwen2_text("0.5B")),
            494_032_768,
            "Qwen/Qwen2-0.5B",
            aliases=("qwen2",),
            model_class="qwen",
        ),
        _entry("Qwen2-1.5B", _qwen2(**qwen2_text("1.5B")), 1_543_714_304, "Qwen/Qwen2-1.5B", model_class="qwen"),
        _entry("Qwen2-7B", _qwen2(**qwen2_text("7B")), 7_615_616_512, "Qwen/Qwen2-7B", model_class="qwen"),
        _entry("Qwen3-0.6B", _QWEN3_0_6B, 596_049_920, "Qwen/Qwen3-0.6B", aliases=("qwen3",), model_class="qwen"),
        _entry("gpt2", _GPT2, 124_439_808, "openai-community/gpt2"),
        _entry(
            "gpt2-xl",
            _GPT2 | {"n_embd": 1600, "n_layer": 48, "n_head": 25},
            1_557_611_200,
            "openai-community/gpt2-xl",
        ),
    )

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        return text_inputs(text_config(config), batch, shape["seq"], rng)


MEMBER = DecoderOnly()
