"""Random weights: the same in every process, filled at the speed of memory, with finite outputs."""

from __future__ import annotations

import math
import zlib
from typing import Any

_BLOCK = 4_194_301
"""Length of the random block that is laid over all weights; a prime, so that no two rows of a matrix are equal."""
_SPREAD = 0.02  # transformers' usual initializer_range, as a standard deviation
_LOGIT_SCALE = 2.6592  # ln(1 / 0.07), where CLIP starts


def fill(model: Any, seed: int) -> None:
    """Give every parameter, and the statistics of normalisation layers, a value that depends on its name and `seed`."""
    import torch

    if hasattr(model, "tie_weights"):  # before filling: a tied matrix is written once
        model.tie_weights()
    block = _random_block(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            _fill_parameter(name, parameter, block)
        for name, buffer in model.named_buffers():
            _fill_statistics(name, buffer)


def _random_block(seed: int) -> Any:
    import numpy as np
    import torch

    values = np.random.default_rng(seed).random(_BLOCK, dtype=np.float32)
    half_width = _SPREAD * math.sqrt(3)  # of a uniform distribution with that standard deviation
    return torch.from_numpy((values * 2 - 1) * np.float32(half_width))


def _fill_parameter(name: str, parameter: Any, block: Any) -> None:
    if not parameter.is_floating_point():
        return
    if parameter.ndim >= 2:
        _tile(parameter, block, zlib.crc32(name.encode()) % _BLOCK)
        _calm(parameter)
    elif name.endswith("bias"):
        parameter.zero_()
    else:
        parameter.fill_(_LOGIT_SCALE if "logit_scale" in name else 1.0)


def _calm(parameter: Any) -> None:
    """Wide convolutions get less, or stacks of them without a norm in between would blow up."""
    if parameter.ndim >= 4:
        parameter.mul_(min(1.0, 1 / (_SPREAD * math.sqrt(parameter[0].numel()))))


def _tile(parameter: Any, block: Any, offset: int) -> None:
    flat = parameter.view(-1)
    position = 0
    while position < flat.numel():
        length = min(flat.numel() - position, _BLOCK - offset)
        flat[position : position + length] = block[offset : offset + length]
        position, offset = position + length, 0


def _fill_statistics(name: str, buffer: Any) -> None:
    # Batch norms keep their statistics as buffers, frozen ones their scale as well: copies of uninitialised memory.
    if not buffer.is_floating_point() or buffer.ndim != 1:
        return
    ending = name.rpartition(".")[2]
    if ending in ("running_mean", "bias"):
        buffer.zero_()
    elif ending in ("running_var", "weight"):
        buffer.fill_(1.0)
