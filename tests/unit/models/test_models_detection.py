"""The architecture is read from the configuration, whatever the name says."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from modeldyno import models
from modeldyno.core.errors import DynoError, InputError
from modeldyno.models import architecture_of

BY_MODEL_TYPE = {
    "bert": "encoder-only",
    "modernbert": "encoder-only",
    "xlm-roberta": "encoder-only",
    "xlm-roberta-xl": "encoder-only",
    "roberta-prelayernorm": "encoder-only",
    "llama": "decoder-only",
    "gemma2": "decoder-only",
    "t5": "encoder-decoder",
    "marian": "encoder-decoder",
    "detr": "vision",
    "swinv2": "vision",
    "clip_vision_model": "vision",
    "whisper": "speech",
    "hubert": "speech",
    "clip": "multimodal",
    "clap": "multimodal",
    "xclip": "multimodal",
    "flava": "multimodal",
    "llava": "vision-encoder-text-decoder",
    "llava_next": "vision-encoder-text-decoder",
    "llava_onevision": "vision-encoder-text-decoder",
    "qwen2_vl": "vision-encoder-text-decoder",
    "qwen2_5_vl": "vision-encoder-text-decoder",
    "mllama": "vision-encoder-text-decoder",
    "git": "vision-encoder-text-decoder",
    "vision-encoder-decoder": "vision-encoder-text-decoder",
    "paligemma": "vision-encoder-text-decoder",
    "switch_transformers": "mixture-of-experts",
    "mixtral": "mixture-of-experts",
    "qwen3_moe": "mixture-of-experts",
    "olmoe": "mixture-of-experts",
    "mamba": "state-space",
    "mamba2": "state-space",
    "rag": "rag",
}
BY_NAME = {
    "clip-vit-base-patch32": "multimodal",
    "wav2vec2-base": "speech",
    "dinov2-small": "vision",
    "switch-base-8": "mixture-of-experts",
    "blip2-opt-2.7b": "vision-encoder-text-decoder",
    "siglip": "multimodal",
    "siglip-base-patch16-224": "multimodal",
    "Qwen2-VL-2B": "vision-encoder-text-decoder",
    "Llama-3.2-11B-Vision": "vision-encoder-text-decoder",
    "mamba": "state-space",
}
BY_CLASS = [
    ({"model_type": "t5", "architectures": ["T5EncoderModel"]}, "encoder-only"),
    ({"_class_name": "UNet2DConditionModel"}, "diffusion"),
    ({"model_type": "new", "architectures": ["NewForCausalLM"]}, "decoder-only"),
    ({"model_type": "new", "architectures": ["NewForCausalLM"], "num_experts": 8}, "mixture-of-experts"),
    ({"model_type": "new", "architectures": ["NewForImageClassification"]}, "vision"),
    ({"architectures": ["NewForConditionalGeneration"], "vision_config": {}}, "vision-encoder-text-decoder"),
    ({"architectures": ["NewForConditionalGeneration"], "is_encoder_decoder": True}, "encoder-decoder"),
]


@pytest.mark.parametrize(("model_type", "architecture"), BY_MODEL_TYPE.items())
def test_model_types(model_type: str, architecture: str) -> None:
    assert architecture_of({"model_type": model_type}) == architecture


@pytest.mark.parametrize(("name", "architecture"), BY_NAME.items())
def test_names_that_mislead(name: str, architecture: str) -> None:
    assert models.resolve(name).architecture == architecture


@pytest.mark.parametrize(("config", "architecture"), BY_CLASS)
def test_classes_tell_where_the_type_is_new(config: dict[str, Any], architecture: str) -> None:
    assert architecture_of(config) == architecture


def test_the_name_of_a_model_never_decides() -> None:
    config = {"model_type": "bert", "_name_or_path": "whisper-clip-mixtral-llava", "name": "mamba"}
    assert architecture_of(config) == "encoder-only"


def test_an_unknown_type_is_named() -> None:
    with pytest.raises(InputError, match="'klingon' is unknown"):
        architecture_of({"model_type": "klingon"})


def test_most_types_of_transformers_are_known() -> None:
    """The tables keep up with the library: every checkpoint type of the big tasks has a place."""
    from transformers.models.auto import modeling_auto as auto

    tasks = ("CAUSAL_LM", "MASKED_LM", "SEQ_TO_SEQ_CAUSAL_LM", "IMAGE_CLASSIFICATION", "IMAGE_TEXT_TO_TEXT", "CTC")
    kinds = {kind for task in tasks for kind in getattr(auto, f"MODEL_FOR_{task}_MAPPING_NAMES")}
    known = {kind for member in models.ARCHITECTURES.all() for kind in member.model_types}
    assert len(kinds & known) / len(kinds) > 0.75, sorted(kinds - known)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)
KEYS = st.sampled_from(
    ["model_type", "architectures", "_class_name", "vision_config", "num_experts", "is_encoder_decoder"]
)


@given(st.dictionaries(KEYS | st.text(max_size=8), JSON | st.sampled_from([["XForCausalLM"], "bert", ["A", 3]])))
def test_garbage_gives_an_architecture_or_a_sentence(config: dict[str, Any]) -> None:
    try:
        assert architecture_of(config) in models.ARCHITECTURES.names()
    except DynoError as error:
        assert str(error).endswith(".")
