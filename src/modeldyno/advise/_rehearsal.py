"""One training step without values: every piece of memory it would take is seen come and go."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from modeldyno.advise._kernels import AsOnAGpu
from modeldyno.models import values_do_not_matter


@dataclass(frozen=True)
class Rehearsal:
    """What one micro-batch takes beside parameters, buffers and gradients, in bytes."""

    kept: int
    """From the forward pass for the backward pass."""
    full: int
    """The most while all that is kept is still there, with what an operation needs only for itself."""
    peak: int
    """The most at any moment."""
    all_learn: bool = True
    """False where some parameters get no gradient."""

    def with_more(self, other: Rehearsal, times: int) -> Rehearsal:
        """As it would be with `times` as many blocks added as `other` has more than this."""
        full = self.full + (other.full - self.full) * times
        return Rehearsal(
            kept=self.kept + (other.kept - self.kept) * times,
            full=full,
            peak=max(full, other.peak),
            all_learn=self.all_learn and other.all_learn,
        )


def rehearse(
    model: Any,
    forward: Callable[[Mapping[str, Any]], Any],
    inputs: Mapping[str, Any],
    blocks: Sequence[Any] = (),
    autocast: Any = None,
) -> Rehearsal:
    """Forward and backward of a blank model; `autocast` is the number format of matrix products, as in PyTorch."""
    watch = _Watch()
    watch.count(*inputs.values())
    watch.leave_out(*model.parameters(), *model.buffers())
    earlier = {id(value) for block in blocks[:-1] for value in block.parameters()}

    def landed(value: Any) -> None:
        """A gradient is one only once it lies with its parameter; before, it is a result like any other."""
        watch.leave_out(value.grad)
        if id(value) in earlier and not full:
            full.append(watch.peak)

    full: list[int] = []
    trained = [value for value in model.parameters() if value.requires_grad]
    hooks = [value.register_post_accumulate_grad_hook(landed) for value in trained]
    with values_do_not_matter(), watch:
        with AsOnAGpu(autocast):
            output = forward(inputs)
        kept = watch.alive
        torch.autograd.backward(output, torch.empty_like(output))
    for hook in hooks:
        hook.remove()
    learned = all(value.grad is not None for value in trained)
    model.zero_grad()
    return Rehearsal(kept, full[0] if full else watch.peak, watch.peak, learned)


class _Watch(TorchDispatchMode):  # type: ignore[misc]
    """Adds up the storages that are alive. Views share one, and one that is let go tells so itself."""

    def __init__(self) -> None:
        super().__init__()
        self.alive = self.peak = 0
        self._sizes: dict[int, int] = {}

    def count(self, *tensors: Any) -> None:
        for tensor in tensors:
            self._meet(tensor.untyped_storage())
        self.peak = max(self.peak, self.alive)

    def leave_out(self, *tensors: Any) -> None:
        for tensor in tensors:
            storage = tensor.untyped_storage()
            self._meet(storage)
            self.alive -= self._sizes[storage._cdata]
            self._sizes[storage._cdata] = 0

    def _meet(self, storage: Any) -> None:
        key = storage._cdata
        if key in self._sizes:
            return
        self._sizes[key] = storage.nbytes()
        self.alive += self._sizes[key]
        weakref.finalize(storage, self._let_go, key).atexit = False

    def _let_go(self, key: int) -> None:
        self.alive -= self._sizes.pop(key)

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        self.count(*(leaf for leaf in tree_leaves(result) if isinstance(leaf, torch.Tensor)))
        return result
