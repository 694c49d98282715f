"""Which architecture a configuration describes, read from its model type and classes, never from a name."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from modeldyno.core.errors import InputError
from modeldyno.models._catalogue import ARCHITECTURES

# A class that uses only one half of the model its type stands for.
_HALVES = {
    "T5EncoderModel": "encoder-only",
    "MT5EncoderModel": "encoder-only",
    "UMT5EncoderModel": "encoder-only",
    "CLIPTextModel": "encoder-only",
    "CLIPTextModelWithProjection": "encoder-only",
    "CLIPVisionModel": "vision",
    "CLIPVisionModelWithProjection": "vision",
    "SiglipTextModel": "encoder-only",
    "SiglipVisionModel": "vision",
}

# The task that a class name of transformers ends in, for model types newer than the tables.
_TASKS = (
    ("ForCTC", "speech"),
    ("ForSpeechSeq2Seq", "speech"),
    ("ForAudioClassification", "speech"),
    ("ForImageClassification", "vision"),
    ("ForObjectDetection", "vision"),
    ("ForSemanticSegmentation", "vision"),
    ("ForDepthEstimation", "vision"),
    ("ForVideoClassification", "vision"),
    ("ForMaskedLM", "encoder-only"),
    ("ForSequenceClassification", "encoder-only"),
    ("ForTokenClassification", "encoder-only"),
    ("ForQuestionAnswering", "encoder-only"),
)
_EXPERT_COUNTS = ("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts")


def architecture_of(config: Mapping[str, Any]) -> str:
    """The architecture's name. Raises InputError where the configuration does not tell."""
    if isinstance(config.get("_class_name"), str):  # the mark of a diffusers configuration
        return "diffusion"
    classes = _classes(config)
    for name in classes:
        if name in _HALVES:
            return _HALVES[name]
    model_type = config.get("model_type")
    if isinstance(model_type, str) and (known := _by_model_type().get(model_type)):
        return known
    for name in classes:
        if found := _from_class(name, config):
            return found
    raise InputError(_complaint(model_type))


@cache
def _by_model_type() -> dict[str, str]:
    return {kind: member.name for member in ARCHITECTURES.all() for kind in member.model_types}


def _classes(config: Mapping[str, Any]) -> tuple[str, ...]:
    named = config.get("architectures")
    return tuple(name for name in named if isinstance(name, str)) if isinstance(named, list | tuple) else ()


def _from_class(name: str, config: Mapping[str, Any]) -> str | None:
    for ending, architecture in _TASKS:
        if name.endswith(ending):
            return architecture
    if name.endswith(("ForConditionalGeneration", "ForImageTextToText")):
        return _conditional_generation(config)
    if name.endswith(("ForCausalLM", "LMHeadModel")):
        return "mixture-of-experts" if _has_experts(config) else "decoder-only"
    return None


def _conditional_generation(config: Mapping[str, Any]) -> str | None:
    if isinstance(config.get("vision_config"), Mapping):
        return "vision-encoder-text-decoder"
    if isinstance(config.get("audio_config"), Mapping):
        return "speech"
    return "encoder-decoder" if config.get("is_encoder_decoder") is True else None


def _has_experts(config: Mapping[str, Any]) -> bool:
    counts = (config.get(key) for key in _EXPERT_COUNTS)
    return any(isinstance(n, int) and n > 1 for n in counts)


def _complaint(model_type: object) -> str:
    if model_type is None:
        return (
            "The configuration names neither a model_type nor a _class_name; "
            "use the config.json that came with the model."
        )
    return (
        f"The model_type {model_type!r} is unknown and the configuration's classes do not tell its architecture; "
        "use a model of transformers or diffusers, or export it to ONNX and give the .onnx file."
    )
