"""Images or video in: classification, detection, features; such as ViT, DETR and DINOv2."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from modeldyno.models._architecture import Entry, words
from modeldyno.models._images import asked_size, channels, image_size, normal, pixels
from modeldyno.models._shapes import TINY_TOWER

if TYPE_CHECKING:
    from modeldyno.core.protocols import Arrays
    from modeldyno.models._architecture import Rng

# These take images of any size; what the processor usually makes of a photograph is the default.
_DETECTORS = words(
    """conditional_detr d_fine dab-detr deformable_detr deimv2 detr lw_detr mask2former maskformer oneformer
    rf_detr rt_detr rt_detr_v2 table-transformer"""
)
_MASKED_DETECTORS = frozenset(["conditional_detr", "dab-detr", "deformable_detr", "detr", "table-transformer"])
_CONVOLUTIONS = words(
    """bit convnext convnextv2 cvt dinov3_convnext efficientnet glpn hgnet_v2 mobilenet_v1 mobilenet_v2
    poolformer regnet resnet segformer swiftformer textnet"""
)
_VIDEO = frozenset(["timesformer", "videomae", "vivit"])
_FIXED_SIZE = words(
    """aimv2_vision_model beit clip_vision_model data2vec-vision deit depth_anything dinat dinov2
    dinov2_with_registers dinov3_vit donut-swin dpt eomt focalnet hiera ijepa levit mobilevit mobilevitv2 pvt
    pvt_v2 sam_vision_model siglip_vision_model swin swinv2 timm_wrapper vit vit_mae vit_msn vitdet yolos
    zoedepth"""
)


def _vit(**overrides: Any) -> dict[str, Any]:
    return {"model_type": "vit", "architectures": ["ViTForImageClassification"], **overrides}


def _detr(depths: list[int], **overrides: Any) -> dict[str, Any]:
    """DETR on transformers' own ResNet: the same shape as the published timm backbone, without needing timm."""
    backbone = {
        "model_type": "resnet",
        "embedding_size": 64,
        "hidden_sizes": [256, 512, 1024, 2048],
        "depths": depths,
        "layer_type": "bottleneck",
        "out_features": ["stage4"],
    }
    return {
        "model_type": "detr",
        "architectures": ["DetrForObjectDetection"],
        "use_timm_backbone": False,
        "use_pretrained_backbone": False,
        "backbone": None,
        "num_labels": 91,
        "backbone_config": backbone,
        **overrides,
    }


_TINY_BACKBONE = {
    "model_type": "resnet",
    "embedding_size": 16,
    "hidden_sizes": [16, 32, 48, 64],
    "depths": [1, 1, 1, 1],
    "layer_type": "basic",
    "out_features": ["stage4"],
}
_TINY_DETR = _detr(
    [],
    backbone_config=_TINY_BACKBONE,
    d_model=64,
    encoder_layers=2,
    decoder_layers=2,
    encoder_ffn_dim=128,
    decoder_ffn_dim=128,
    encoder_attention_heads=4,
    decoder_attention_heads=4,
    num_queries=20,
)
_VIT_LARGE = {
    "hidden_size": 1024,
    "num_hidden_layers": 24,
    "num_attention_heads": 16,
    "intermediate_size": 4096,
}
_DINOV2_SMALL = {
    "model_type": "dinov2",
    "architectures": ["Dinov2Model"],
    "hidden_size": 384,
    "num_hidden_layers": 12,
    "num_attention_heads": 6,
    "image_size": 518,
    "patch_size": 14,
}


def _entry(name: str, config: dict[str, Any], parameters: int, hf_id: str | None = None, **more: Any) -> Entry:
    return Entry(name, config, "vision", parameters, hf_id=hf_id, **more)


class Vision:
    """Pixels in, labels, boxes or features out."""

    name = "vision"
    family = "vision"
    auto_class = "AutoModel"
    axes: Mapping[str, int] = {}
    model_types = (
        _DETECTORS
        | _CONVOLUTIONS
        | _VIDEO
        | _FIXED_SIZE
        | words("""depth_pro imagegpt mgp-str sam sam2 sam3 sam_hq superpoint swin2sr upernet vitpose vjepa2""")
    )
    entries = (
        _entry(
            "tiny-vit",
            _vit(**TINY_TOWER, image_size=64, patch_size=16, num_labels=10),
            118_090,
            model_class="vit",
            tiny=True,
        ),
        _entry("tiny-detr", _TINY_DETR, 312_528, model_class="detr", tiny=True, axes={"height": 128, "width": 160}),
        _entry(
            "vit-base-patch16-224",
            _vit(num_labels=1000),
            86_567_656,
            "google/vit-base-patch16-224",
            aliases=("vit", "vit-base"),
            model_class="vit",
        ),
        _entry(
            "vit-large-patch16-224",
            _vit(**_VIT_LARGE, num_labels=1000),
            304_326_632,
            "google/vit-large-patch16-224",
            aliases=("vit-large",),
            model_class="vit",
        ),
        _entry(
            "detr-resnet-50",
            _detr([3, 4, 6, 3]),
            41_524_768,
            "facebook/detr-resnet-50",
            aliases=("detr",),
            model_class="detr",
        ),
        _entry("detr-resnet-101", _detr([3, 4, 23, 3]), 60_464_672, "facebook/detr-resnet-101", model_class="detr"),
        _entry("dinov2-small", _DINOV2_SMALL, 22_056_576, "facebook/dinov2-small", aliases=("dinov2",)),
        _entry(
            "resnet-50",
            {"model_type": "resnet", "architectures": ["ResNetForImageClassification"], "num_labels": 1000},
            25_557_032,
            "microsoft/resnet-50",
        ),
    )

    def axes_of(self, config: Mapping[str, Any]) -> dict[str, int]:
        kind = config.get("model_type")
        if kind in _DETECTORS:
            return {"height": 800, "width": 1066}
        return {"height": 224, "width": 224} if kind in _CONVOLUTIONS else {}

    def inputs(self, config: Any, batch: int, shape: Mapping[str, int], rng: Rng) -> Arrays:
        import numpy as np

        if config.model_type in _VIDEO:
            return {"pixel_values": _video(config, batch, rng)}
        size = asked_size(shape) if "height" in shape else image_size(config)
        arrays = {"pixel_values": pixels(config, batch, size, rng)}
        if config.model_type in _MASKED_DETECTORS:
            arrays["pixel_mask"] = np.ones((batch, *size), dtype=np.int64)
        if config.model_type == "vit_mae":  # without it the model draws its own mask on every call
            patches = (size[0] // config.patch_size) * (size[1] // config.patch_size)
            arrays["noise"] = rng.random((batch, patches), dtype=np.float32)
        return arrays


def _video(config: Any, batch: int, rng: Rng) -> Any:
    return normal((batch, config.num_frames, channels(config), *image_size(config)), rng)


MEMBER = Vision()
