"""What the memory of training is made of: bytes of the tensors themselves, counted once each."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from modeldyno.core.types import MetricValue
from modeldyno.workloads._training.trainer import Tensors, Trainer

MB = 2**20


def memory_split(trainer: Trainer, tensors: Tensors) -> dict[str, MetricValue]:
    """Parameters, gradients, the optimizer's state, and what one batch keeps from forward to backward."""
    trainer.clear()
    activations = _kept(trainer, tensors)
    gradients = (value.grad for value in trainer.trained.values() if value.grad is not None)
    state = (
        value for of_one in trainer.optimizer.state.values() for value in of_one.values() if hasattr(value, "data")
    )
    return {
        "memory_parameters_mb": _mb(trainer.model.parameters()),
        "memory_gradients_mb": _mb(gradients),
        "memory_optimizer_mb": _mb(state),
        "memory_activations_mb": activations,
    }


def _mb(tensors: Iterable[Any]) -> MetricValue:
    return MetricValue(value=sum(tensor.nbytes for tensor in tensors) / MB)


def _kept(trainer: Trainer, tensors: Tensors) -> MetricValue:
    """Storages that the graph holds at the end of the forward pass; those of the parameters are there anyway."""
    import torch

    own = {value.untyped_storage().data_ptr() for value in trainer.model.parameters()}
    kept: dict[int, int] = {}

    def pack(tensor: Any) -> Any:
        storage = tensor.untyped_storage()
        if storage.data_ptr() not in own:
            kept[storage.data_ptr()] = storage.nbytes()
        return tensor.detach()  # the tensor itself would hold on to the graph that holds it

    with torch.autograd.graph.saved_tensors_hooks(pack, lambda tensor: tensor):
        loss = trainer.forward(tensors, plain=True)
    trainer.backward(loss)
    note = "of the model before compilation" if trainer.compiled else None
    return MetricValue(value=sum(kept.values()) / MB, note=note)
