"""Proof of where a PyTorch module lies and computes."""

from __future__ import annotations

from collections import Counter
from typing import Any

from modeldyno.core.types import Placement, Precision

Details = dict[str, str | int | float | bool]


def placement_of(module: Any, result: Any, asked: str, precision: str, details: Details) -> Placement:
    """From the module's parameters and a tensor that it computed."""
    import torch

    where = Counter(str(tensor.device) for tensor in module.parameters())
    formats = Counter(str(tensor.dtype).removeprefix("torch.") for tensor in module.parameters())
    device = str(result.device)
    return Placement(
        asked=asked,
        device=device,
        compute_precision=_compute_precision(formats, precision),
        nodes=dict(where),
        fallback=tuple(sorted(set(where) - {device})),
        threads=torch.get_num_threads(),
        details=details,
    )


def _compute_precision(formats: Counter[str], precision: str) -> str:
    if precision == Precision.INT8:
        return "int8 linear layers, the rest float32"
    return formats.most_common(1)[0][0] if formats else "unknown"
