"""Which parameters training changes: all, the head's, or low-rank adapters beside the attention's."""

from __future__ import annotations

from typing import Any

from modeldyno.core.errors import Unsupported
from modeldyno.models import Lesson

LORA_RANK = 8
LORA_SCALE = 16
_PROJECTIONS = (
    *("q_proj", "k_proj", "v_proj", "query", "key", "value", "q", "k", "v", "to_q", "to_k", "to_v"),
    *("qkv", "qkv_proj", "query_key_value", "in_proj_qkv"),
)
"""What models call the projections of their attention."""


def apply(preset: str, model: Any, lesson: Lesson) -> None:
    """Mark what training changes, in place."""
    model.requires_grad_(True)
    if preset == "head":
        _only(model, lesson.head(model))
    elif preset == "lora":
        _add_adapters(model)


def require_peft() -> None:
    """Raises ModuleNotFoundError where it is not installed."""
    import peft  # noqa: F401


def _only(model: Any, names: frozenset[str]) -> None:
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in names)


def _add_adapters(model: Any) -> None:
    from peft import LoraConfig, inject_adapter_in_model
    from torch import nn

    linear = (name for name, part in model.named_modules() if isinstance(part, nn.Linear))
    found = [name for name in linear if name.rpartition(".")[2] in _PROJECTIONS]
    if not found:
        raise Unsupported(
            "this model has no attention projections that LoRA adapters fit beside", "use --option preset=full or head"
        )
    inject_adapter_in_model(LoraConfig(r=LORA_RANK, lora_alpha=LORA_SCALE, target_modules=found), model)
