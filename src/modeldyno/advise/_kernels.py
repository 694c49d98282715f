"""Operations as a GPU would keep memory for them: the meta device takes the ways of a plain CPU."""

from __future__ import annotations

from typing import Any

import torch
from torch.nn import functional
from torch.overrides import TorchFunctionMode
from torch.utils._pytree import tree_map

from modeldyno.models import words

# What autocast computes in the lower format and what in fp32: the lists of PyTorch's page on torch.amp, for GPUs.
_LOWER = words(
    """__matmul__ addbmm addmm addmv addr baddbmm bmm chain_matmul conv1d conv2d conv3d conv_transpose1d
    conv_transpose2d conv_transpose3d einsum linear matmul mm multi_dot mv prelu scaled_dot_product_attention"""
)
_FULL = words(
    """__pow__ __rpow__ acos asin binary_cross_entropy_with_logits cdist cosh cosine_embedding_loss
    cosine_similarity cross_entropy cumprod cumsum dist erfinv exp expm1 group_norm hinge_embedding_loss kl_div l1_loss
    layer_norm log log10 log1p log2 log_softmax margin_ranking_loss mse_loss multi_margin_loss multilabel_margin_loss
    nll_loss norm normalize pdist poisson_nll_loss pow prod reciprocal renorm rms_norm rsqrt sinh smooth_l1_loss
    soft_margin_loss softmax softmin softplus sum tan triplet_margin_loss"""
)


class AsOnAGpu(TorchFunctionMode):  # type: ignore[misc]
    """Attention in one kernel that never holds the matrix of scores; dropout that keeps a byte per element.

    `autocast` is the lower of the two number formats, where there are two."""

    def __init__(self, autocast: Any = None) -> None:
        super().__init__()
        self._lower = autocast
        self._copies: dict[int, Any] = {}
        """Parameters in the lower format: autocast makes each once."""

    def __torch_function__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        given = kwargs or {}
        if self._lower is not None:
            args, given = self._cast(getattr(func, "__name__", ""), args, given)
        if func is functional.scaled_dot_product_attention:
            return _attention(*args, **given)
        if func is functional.dropout:
            return _dropout(*args, **given)
        return func(*args, **given)

    def _cast(self, name: str, args: Any, given: Any) -> Any:
        if name not in _LOWER and name not in _FULL:
            return args, given
        wanted = self._lower if name in _LOWER else torch.float32
        return tree_map(lambda value: self._to(value, wanted), (args, given))

    def _to(self, value: Any, wanted: Any) -> Any:
        if not isinstance(value, torch.Tensor) or not value.is_floating_point() or value.dtype == wanted:
            return value
        if not (value.is_leaf and value.requires_grad):
            return value.to(wanted)
        if id(value) not in self._copies:
            self._copies[id(value)] = value.to(wanted)
        return self._copies[id(value)]


def _dropout(value: Any, p: float = 0.5, training: bool = True, inplace: bool = False) -> Any:  # noqa: ARG001
    return torch.native_dropout(value, p, True)[0] if training and p > 0 else value


def _attention(query: Any, key: Any, value: Any, attn_mask: Any = None, *_: Any, **__: Any) -> Any:
    return _Attention.apply(query, key, value, attn_mask)


class _Attention(torch.autograd.Function):  # type: ignore[misc]
    """Keeps its inputs, its output and one number per row (Dao et al., "FlashAttention", 2022)."""

    @staticmethod
    def forward(ctx: Any, query: Any, key: Any, value: Any, mask: Any) -> Any:
        *outer, length, _ = query.shape
        output = query.new_empty(*outer[:-1], length, outer[-1], value.shape[-1]).transpose(-3, -2)
        sums = query.new_empty(*outer, length, dtype=torch.float32)
        ctx.save_for_backward(query, key, value, mask, output, sums)
        return output

    @staticmethod
    def backward(ctx: Any, _: Any) -> Any:
        query, key, value, mask, *_ = ctx.saved_tensors
        gradients = [torch.empty_like(given) for given in (query, key, value)]
        return *gradients, torch.empty_like(mask) if ctx.needs_input_grad[3] else None
