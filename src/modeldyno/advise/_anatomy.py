"""How a model can be taken apart: its blocks, and which of its matrices can be divided."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatch
from math import gcd
from typing import Any

from torch import nn

_STYLES = {"colwise", "rowwise"}
_PIPELINE = ("embed_tokens", "layers", "norm")
"""What the body of a model has, in order, that can be cut into stages."""


@dataclass(frozen=True)
class Stack:
    """Blocks that are alike and run one after the other."""

    name: str
    blocks: tuple[Any, ...] = field(repr=False)

    @property
    def uniform(self) -> bool:
        return len({_shapes(block) for block in self.blocks}) == 1


@dataclass(frozen=True)
class Anatomy:
    """What a plan has to know of a model."""

    parameters: int
    buffers: int
    """Bytes."""
    block_classes: tuple[str, ...]
    layers: int
    """Blocks, where they are all alike; else 0."""
    divided: Mapping[str, str] = field(hash=False)
    """The tensor-parallel plan: which matrices are divided by columns, and which by rows."""
    heads: int
    """What a tensor-parallel degree has to divide."""
    no_tensor: str | None
    no_pipeline: str | None
    no_checkpointing: str | None


def stacks(model: Any) -> list[Stack]:
    """The outermost lists of two or more blocks of one class that is the model's own."""
    found: list[Stack] = []
    for name, module in model.named_modules():
        inside = any(name.startswith(f"{stack.name}.") for stack in found)
        if isinstance(module, nn.ModuleList) and not inside and _are_blocks(module):
            found.append(Stack(name, tuple(module)))
    return found


def _are_blocks(modules: Any) -> bool:
    classes = {type(module) for module in modules}
    own = all(not each.__module__.startswith("torch.nn") for each in classes)
    return len(modules) > 1 and len(classes) == 1 and own and any(True for _ in modules.parameters())


def dissect(model: Any) -> Anatomy:
    """Of a blank model."""
    found = stacks(model)
    alike = found[0] if len(found) == 1 and found[0].uniform else None
    divided, no_tensor = _divided(model)
    return Anatomy(
        parameters=sum(value.numel() for value in model.parameters()),
        buffers=sum(value.nbytes for value in model.buffers()),
        block_classes=tuple(sorted({type(block).__name__ for stack in found for block in stack.blocks})),
        layers=len(alike.blocks) if alike else 0,
        divided=divided,
        heads=_heads(getattr(model, "config", None)),
        no_tensor=no_tensor,
        no_pipeline=_no_pipeline(model, alike),
        no_checkpointing=None if _can_checkpoint(model) else "this model cannot checkpoint its gradients",
    )


def _heads(config: Any) -> int:
    counts = [getattr(config, f"num_{kind}_heads", None) for kind in ("attention", "key_value")]
    return gcd(*(count for count in counts if count)) or 1


def _can_checkpoint(model: Any) -> bool:
    offered = getattr(model, "supports_gradient_checkpointing", False)
    return bool(offered) and hasattr(model, "gradient_checkpointing_enable")


def _divided(model: Any) -> tuple[dict[str, str], str | None]:
    """The plan that transformers has for the model's body, under the names that the whole model has."""
    plan = getattr(getattr(model, "config", None), "base_model_tp_plan", None)
    if not plan:
        return {}, "transformers has no tensor-parallel plan for this model"
    if strange := sorted(set(plan.values()) - _STYLES):
        return {}, f"its tensor-parallel plan has {', '.join(strange)}, which the script cannot write"
    return {f"{model.base_model_prefix}.{name}": style for name, style in plan.items()}, None


def _no_pipeline(model: Any, stack: Stack | None) -> str | None:
    plan = getattr(getattr(model, "config", None), "base_model_pp_plan", None)
    whole = stack is not None and stack.name == "model.layers" and hasattr(model, "lm_head")
    if not whole or tuple(plan or ()) != _PIPELINE:
        return "transformers has no pipeline plan of embeddings, equal blocks and head for this model"
    if model.lm_head.weight is model.get_input_embeddings().weight:
        return "its first and its last stage would share one matrix"
    return None


def _shapes(block: Any) -> tuple[tuple[str, tuple[int, ...]], ...]:
    return tuple((name, tuple(value.shape)) for name, value in block.named_parameters())


def divided_layers(model: Any, plan: Mapping[str, str]) -> Iterator[tuple[Any, str]]:
    """The linear layers that the plan names, and how each is divided."""
    for name, module in model.named_modules():
        for pattern, style in plan.items():
            if fnmatch(name, pattern):
                yield module, style
