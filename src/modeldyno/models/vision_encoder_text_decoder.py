"""Images in, text out: BLIP-2, LLaVA and its successors, Qwen2-VL, Llama 3.2 Vision."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import ExportHints, words
from modeldyno.models._image_text_inputs import RECIPES, image_text_inputs
from modeldyno.models._image_text_models import ENTRIES

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

_TILED = frozenset(["llava_next", "llava_onevision"])
_QWEN_VL = frozenset(["qwen2_vl", "qwen2_5_vl"])
_WITHOUT_RECIPE = words(
    """aria aya_vision chameleon cohere2_vision colpali colqwen2 deepseek_ocr2 deepseek_vl deepseek_vl_hybrid
    donut emu3 ernie4_5_vl_moe evolla exaone4_5 fast_vlm florence2 fuyu gemma3 gemma3n gemma4 glm46v glm4v
    glm4v_moe glm_ocr got_ocr2 granite4_vision hunyuan_vl idefics idefics2 idefics3 instructblip
    instructblipvideo internvl janus kosmos-2 kosmos-2.5 lfm2_vl lighton_ocr llama4 llava_next_video mistral3
    molmo2 nougat ovis2 paddleocr_vl perception_lm phi4_multimodal pi0 pix2struct qwen2_5_omni qwen3_5
    qwen3_5_moe qwen3_omni_moe qwen3_vl qwen3_vl_moe shieldgemma2 smolvlm trocr udop video_llama_3 video_llava"""
)


class VisionEncoderTextDecoder:
    """An image and a prompt in, the next token's scores out. `seq` counts the prompt without the image's tokens."""

    name = "vision-encoder-text-decoder"
    family = "multimodal"
    auto_class = "AutoModelForImageTextToText"
    axes: Mapping[str, int] = {"seq": 32}
    model_types = frozenset(RECIPES) | _WITHOUT_RECIPE
    entries = ENTRIES

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]:
        kind = config.get("model_type")
        if kind in _QWEN_VL:
            return {**self.axes, "image": 224}
        return {"decoder_seq": 16} if kind == "vision-encoder-decoder" else dict(self.axes)

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        return image_text_inputs(config, batch, shape, rng)

    def export_hints(self, model_type: str) -> ExportHints:
        if model_type in _TILED:
            return ExportHints(constants=frozenset({"image_sizes"}), any_batch=False)
        if model_type in _QWEN_VL:
            return ExportHints(
                constants=frozenset({"image_grid_thw", "mm_token_type_ids"}), legacy=True, any_batch=False
            )
        return ExportHints(any_batch=False)

    def parts(self, model: Any, inputs: Mapping[str, Any]) -> Sequence[Callable[[], Any]] | None:
        """Where image tokens are put in place by value: the image's features, then the text model on embeddings."""
        if not hasattr(model, "get_image_features") or not hasattr(model, "get_input_embeddings"):
            return None
        if model.config.model_type in ("mllama", "git", "blip", "vision-encoder-decoder"):
            return None
        images = {k: v for k, v in inputs.items() if k in ("pixel_values", "image_sizes", "image_grid_thw")}
        width = model.get_input_embeddings().weight.shape[1]
        embeds = model.get_input_embeddings().weight.new_empty((*inputs["input_ids"].shape, width))
        language = model.language_model if model.config.model_type == "blip-2" else model
        return (
            lambda: model.get_image_features(**images),
            lambda: language(inputs_embeds=embeds, use_cache=False),
        )


MEMBER = VisionEncoderTextDecoder()
